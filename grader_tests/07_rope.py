"""Lesson 07: attention is order-blind; frequencies, rotation by position, two memory layouts, a module.

Every rotation is judged with room for angles that were computed in float32, whatever the dtype of the input. The
frequency is then wrong by a few units in the last place, and so is the angle: by up to about 4e-7 of itself. For
positions up to p an entry of the result may thus be off by 1e-6 * p times the length of its pair; see `turned`.

The mistakes of `RotarySelfAttention` are small changes to one class, `Template`: each overrides the one step that it
gets wrong, so that it differs from a right answer in nothing else.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from grading.judge.exercise import SUBJECT, Script, call, exercise, helper, non_contiguous, ref, specimen

# From lesson 04 to 07 the layers that PyTorch has are not allowed.
BUILT_IN = (".*scaled_dot_product.*attention.*", ".*multi_head_attention.*")
INF = math.inf
BLIND = "1. Attention does not see the order"
TURNING = "2. Turn a vector by its position"
CLOCKS = "3. Many clocks"
ROTATING = "Exercise 3: `apply_rope`"
LAYOUTS = "6. Two layouts in memory"
MODULE = "7. Self-attention that sees the order"

# ---------------------------------------------------------------------------------------------- is_order_blind

is_order_blind = exercise("is_order_blind", points=3, see=BLIND, forbidden=BUILT_IN)
is_order_blind.hints = (
    "Let token 0 move to place 2. Where do you find its output if the function is order-blind, and where else do you "
    "have to look for it to compare the two?",
    "Two runs of the same function: one on the permuted input, one on the input as it is. Permute the *output* of the "
    "second in the same way as the input of the first, and compare entry by entry, with room for rounding.",
    "`moved = attention(x[…])`; `kept = attention(x)[…]`; the greatest `abs()` of their difference, compared with "
    "something between 1e-5 and 1e-2; `bool(…)` makes a plain answer of it.",
)


@is_order_blind.oracle
def is_order_blind_oracle(attention, x, permutation):
    with torch.no_grad():
        moved, kept = attention(x[permutation]), attention(x)[permutation]
    return bool((moved - kept).abs().max() < 3e-4)


@is_order_blind.example("every token gets the mean of all tokens; 0, 1, 2 become 1, 2, 0")
def _():
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]])
    yield call(specimen("mixture", matrix=torch.full((3, 3), 1 / 3)), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets half of itself and the mean of all; 0, 1, 2 become 1, 2, 0")
def _():
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]])
    yield call(specimen("mixture", matrix=torch.full((3, 3), 1 / 3) + torch.eye(3) / 2), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets the mean of what came up to it")
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(specimen("mixture", matrix=means), torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]), torch.tensor([1, 2, 0]))


@is_order_blind.example("the same, and nothing changes places")
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(specimen("mixture", matrix=means), torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]), torch.tensor([0, 1, 2]))


@is_order_blind.example("the mean of all, and 0.000002 times the second token, as rounding might add it")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[0, 1] += 2e-6
    yield call(specimen("mixture", matrix=matrix), torch.tensor([[1.0], [-1.0], [0.0]]), torch.tensor([1, 2, 0]))


def scrambled(draw, T):
    """A permutation of at least three places that is not its own inverse and leaves no place alone."""
    while True:
        found = draw.permutation(T)
        if not (found[found] == torch.arange(T)).any() and not (found == torch.arange(T)).any():
            return found


def exchanged(T, a, b):
    """The permutation of T places that exchanges two."""
    found = torch.arange(T)
    found[a], found[b] = b, a
    return found


def beyond(T, reach=0):
    """A bias (T, T) that blocks the keys more than `reach` places after the query."""
    return torch.zeros(T, T).masked_fill(torch.ones(T, T).triu(1 + reach).bool(), -INF)


def window(T, reach):
    """A bias (T, T) that blocks the keys more than `reach` places away, before or after."""
    distance = (torch.arange(T)[:, None] - torch.arange(T)).abs()
    return torch.zeros(T, T).masked_fill(distance > reach, -INF)


def wheel(T):
    """A bias (T, T) by which every token looks at itself and at the next one, the last one at the first."""
    return torch.zeros(T, T).masked_fill((torch.eye(T) + torch.eye(T).roll(1, 1)) == 0, -INF)


def turns(T, D):
    """Rotations (T, D, D): matrix number t turns the neighbouring pairs by t, t / 2, t / 3, …"""
    made = torch.zeros(T, D, D)
    for i in range(D // 2):
        angle = torch.arange(float(T)) / (i + 1)
        made[:, 2 * i, 2 * i] = made[:, 2 * i + 1, 2 * i + 1] = angle.cos()
        made[:, 2 * i, 2 * i + 1], made[:, 2 * i + 1, 2 * i] = -angle.sin(), angle.sin()
    return made


def loud(draw, T, D, dtype=torch.float32):
    """Tokens (T, D) with entries between 1 and 2 in magnitude, so that no difference is small by accident."""
    return draw.uniform(T, D, low=1.0, high=2.0, dtype=dtype) * (1.0 - 2.0 * draw.chance(0.5, T, D).to(dtype))


@is_order_blind.criterion("functions that see the order, and functions that do not", points=1)
def _(draw):
    T, D = 7, 4
    everywhere = torch.ones(T, T) / T
    blind = (
        specimen("biased_attention", bias=torch.zeros(T, T)),
        specimen("biased_attention", bias=torch.zeros(T, T), normalised=True),
        specimen("biased_attention", bias=2.0 * torch.eye(T)),  # every token is fond of itself, wherever it stands
        specimen("mixture", matrix=everywhere, features=draw.normal(D, D)),
        specimen("mixture", matrix=0.5 * torch.eye(T) - everywhere),
        specimen("mixture", matrix=torch.eye(T)),
    )
    seeing = (
        specimen("biased_attention", bias=beyond(T)),
        specimen("biased_attention", bias=window(T, 1)),
        specimen("biased_attention", bias=3.0 * draw.normal(T, T)),
        specimen("biased_attention", bias=torch.zeros(T, T), positions=2.0 * draw.normal(T, D)),
        specimen("turned_attention", turns=turns(T, D)),
        specimen("mixture", matrix=torch.eye(T).roll(1, 1)),  # what came before, and nothing else
        # The outputs are others, and their sum is the same
        specimen("mixture", matrix=0.5 * torch.eye(T) + 0.5 * torch.eye(T).roll(1, 1)),
    )
    for function in blind:
        yield call(function, loud(draw, T, D), scrambled(draw, T))
    for function in seeing:
        yield call(function, loud(draw, T, D), scrambled(draw, T))


@is_order_blind.criterion("the permutation that is given", points=1)
def _(draw):
    T, D = 6, 3
    # Nothing changes places: whatever the function does, it does it again
    yield call(specimen("biased_attention", bias=beyond(T)), loud(draw, T, D), torch.arange(T))
    # A wheel that is turned is the same wheel; one whose places are scrambled is not
    yield call(specimen("biased_attention", bias=wheel(T)), loud(draw, T, D), torch.arange(T).roll(2))
    yield call(specimen("biased_attention", bias=wheel(T)), loud(draw, T, D), exchanged(T, 1, 4))
    # One place is special: it matters only who stands there
    special = torch.zeros(T, T)
    special[:, 2] = 3.0
    yield call(specimen("biased_attention", bias=special), loud(draw, T, D), exchanged(T, 3, 5))
    yield call(specimen("biased_attention", bias=special), loud(draw, T, D), exchanged(T, 2, 5))
    # Only the last two change places
    yield call(specimen("biased_attention", bias=beyond(T)), loud(draw, T, D), exchanged(T, T - 2, T - 1))
    # Long ways round, one way and the other
    for shift in (1, -1):
        yield call(specimen("biased_attention", bias=torch.zeros(13, 13)), loud(draw, 13, 2), torch.arange(13).roll(shift))
        yield call(specimen("biased_attention", bias=beyond(3)), loud(draw, 3, 5), torch.arange(3).roll(shift))


def nudged(T, i, j, by):
    """The mean of all tokens (T, T), and output i holds input j `by` times more."""
    matrix = torch.ones(T, T) / T
    matrix[i, j] += by
    return matrix


def balanced(draw, T, D):
    """Tokens (T, D) of magnitude 1 whose mean is 0: all that is left of their mean is rounding. T is even."""
    half = loud(draw, T // 2, D).sign()
    return torch.cat([half, -half])[draw.permutation(T)]


# Differences are 2e-6 or 0.013 here, in one feature of two outputs; all others are rounding of about 1e-8
@is_order_blind.criterion("small differences: rounding or not", points=0.5)
def _(draw):
    T, D = 6, 4
    one = torch.zeros(D, D)
    one[2, 1] = 1.0
    signs = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])  # with these both differences have the same sign
    for by in (2e-6, -2e-6, 0.013, -0.013):
        matrix = nudged(T, draw.integer(0, 3), draw.integer(3, 6), by)
        yield call(specimen("mixture", matrix=matrix, features=one), balanced(draw, T, D), torch.arange(T).roll(1))
        yield call(specimen("mixture", matrix=nudged(4, 3, 1, by)), signs.double(), torch.tensor([1, 2, 3, 0]))


@is_order_blind.criterion("a single token, any dtype, and nothing is changed", points=0.5)
def _(draw):
    yield call(specimen("biased_attention", bias=torch.zeros(1, 1)), loud(draw, 1, 4), torch.zeros(1, dtype=torch.int64))
    for bias in (torch.zeros(5, 5), beyond(5)):
        function = specimen("biased_attention", bias=bias)
        yield call(function, loud(draw, 5, 3), scrambled(draw, 5)).unchanged()
        yield call(function, loud(draw, 5, 4, torch.float64), scrambled(draw, 5)).unchanged()
        yield call(function, non_contiguous(loud(draw, 5, 2)), non_contiguous(scrambled(draw, 5)))


SEES = "functions that see the order, and functions that do not"
GIVEN = "the permutation that is given"
SMALL = "small differences: rounding or not"
TIDY = "a single token, any dtype, and nothing is changed"


@is_order_blind.mistake(
    "You compare with the outputs in their old order. An order-blind function gives each token the output that it had "
    "before, but the token stands elsewhere now: the outputs are to be permuted like the inputs.",
    shows=(SEES, GIVEN),
)
def leaves_the_output_as_it_was(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)).abs().max() < 1e-4)


@is_order_blind.mistake(
    "The permutation was applied to the second output the wrong way round. Either permute the output of the unpermuted "
    "input as the input was, or undo the permutation on the other one; `[permutation]` once more does not undo it.",
    shows=(SEES, GIVEN),
)
def permutes_twice(attention, x, permutation):
    return bool((attention(x[permutation])[permutation] - attention(x)).abs().max() < 1e-4)


@is_order_blind.mistake(
    "One side is permuted, the other is permuted *back*. Both need the same permutation.", shows=(SEES, GIVEN)
)
def permutes_one_side_back(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation.argsort()]).abs().max() < 1e-4)


@is_order_blind.mistake(
    "It is the tokens that change places, dimension 0; you permute the features of each token.", shows=(SEES, GIVEN)
)
def permutes_the_features(attention, x, permutation):
    places = permutation % x.shape[1]
    return bool((attention(x[:, places]) - attention(x)[:, places]).abs().max() < 1e-4)


@is_order_blind.mistake(
    "The outputs were added up over the tokens before they were compared. A function may give quite other outputs with "
    "the same sum.",
    shows=SEES,
)
def compares_sums(attention, x, permutation):
    return bool((attention(x[permutation]).sum(0) - attention(x).sum(0)).abs().max() < 1e-3)


@is_order_blind.mistake(
    "You sorted the outputs before comparing them. It is not enough that the same numbers come out somewhere; each token "
    "must get its own.",
    shows=SEES,
)
def compares_sorted_outputs(attention, x, permutation):
    moved, kept = attention(x[permutation]).sort(dim=0).values, attention(x).sort(dim=0).values
    return bool((moved - kept).abs().max() < 1e-4)


@is_order_blind.mistake(
    "You try a permutation of your own. The one that is given may be one to which the function is blind, or the only "
    "one to which it is not.",
    shows=GIVEN,
)
def turns_the_tokens_round(attention, x, permutation):
    return bool((attention(x.flip(0)) - attention(x).flip(0)).abs().max() < 1e-4)


@is_order_blind.mistake(
    "You look at the first output only. The order may matter to any of them.", shows=(SEES, GIVEN)
)
def looks_at_the_first_output_only(attention, x, permutation):
    return bool((attention(x[permutation])[0] - attention(x)[permutation[0]]).abs().max() < 1e-4)


@is_order_blind.mistake(
    "You ask for equal bits. Sums in another order round differently: what is under 1e-5 is no difference.", shows=SMALL
)
def asks_for_equal_bits(attention, x, permutation):
    return torch.equal(attention(x[permutation]), attention(x)[permutation])


@is_order_blind.mistake(
    "`torch.allclose` by itself forgives only 1e-8 where the numbers are near 0. What is under 1e-5 is rounding: tell it "
    "so, with `atol`.",
    shows=SMALL,
)
def by_the_defaults_of_allclose(attention, x, permutation):
    return torch.allclose(attention(x[permutation]), attention(x)[permutation])


@is_order_blind.mistake(
    "It is too forgiving: a difference of a hundredth, at a single place, is one.", shows=SMALL
)
def forgives_a_tenth(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 0.1)


@is_order_blind.mistake(
    "The mean of all differences hides a difference at a single place. Look at the greatest.", shows=SMALL
)
def averages_the_differences(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation]).abs().mean() < 5e-3)


@is_order_blind.mistake(
    "Negative differences are not seen: take the magnitude before you ask whether any is large.",
    shows=SMALL,
)
def forgets_the_sign(attention, x, permutation):
    return bool((attention(x[permutation]) - attention(x)[permutation]).max() < 1e-4)


@is_order_blind.mistake(
    "*Every* output has to differ before you say that the order matters. One is enough.", shows=(SMALL, GIVEN)
)
def asks_whether_all_differ(attention, x, permutation):
    different = (attention(x[permutation]) - attention(x)[permutation]).abs().amax(1) > 1e-4
    return not bool(different.all())


@is_order_blind.mistake(
    "The answer is the wrong way round: True means that the function does *not* see the order.", shows=(SEES, GIVEN)
)
def says_the_opposite(attention, x, permutation):
    return not bool((attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4)


@is_order_blind.mistake(
    "The answer is a tensor. Return a plain `True` or `False`: `bool(…)` makes one of it.", shows=(SEES, GIVEN)
)
def answers_with_a_tensor(attention, x, permutation):
    return (attention(x[permutation]) - attention(x)[permutation]).abs().max() < 1e-4


@is_order_blind.mistake(
    "`x` is not what it was before the call. Indexing makes a new tensor; do not write it back.", shows=TIDY
)
def permutes_x_in_place(attention, x, permutation):
    kept = attention(x)[permutation]
    x[:] = x[permutation]
    return bool((attention(x) - kept).abs().max() < 1e-4)


@is_order_blind.mistake("It says True of everything. Try it on attention with a causal mask.", shows=(SEES, GIVEN))
def always_true(attention, x, permutation):
    return True


@is_order_blind.mistake("It says False of everything. Try it on plain self-attention.", shows=(SEES, GIVEN))
def always_false(attention, x, permutation):
    return False


@is_order_blind.alternative
def undoing_the_permutation(attention, x, permutation):
    inverse = torch.argsort(permutation)
    return torch.allclose(attention(x[permutation])[inverse], attention(x), rtol=0.0, atol=1e-4)


@is_order_blind.alternative
def token_by_token(attention, x, permutation):
    moved, kept = attention(x.index_select(0, permutation)), attention(x)
    for place, token in enumerate(permutation.tolist()):
        if not all(abs(a - b) < 1e-3 for a, b in zip(moved[place].tolist(), kept[token].tolist(), strict=True)):
            return False
    return True


@is_order_blind.alternative
def with_a_permutation_matrix(attention, x, permutation):
    P = torch.eye(len(x), dtype=x.dtype)[permutation]
    return not torch.any(torch.abs(attention(P @ x) - P @ attention(x)) > 2e-5).item()


@is_order_blind.alternative
def by_an_assertion(attention, x, permutation):
    try:
        torch.testing.assert_close(attention(x[permutation]), attention(x)[permutation], rtol=0.0, atol=5e-5)
    except AssertionError:
        return False
    return True


@is_order_blind.alternative
@torch.no_grad()
def by_the_largest_norm(attention, x, permutation):
    difference = torch.take_along_dim(attention(x), permutation[:, None], 0) - attention(x[permutation, :])
    return float(torch.linalg.vector_norm(difference, ord=math.inf)) <= 5e-3


@is_order_blind.alternative
def by_length_of_the_difference(attention, x, permutation):
    output = torch.empty_like(x)
    output[permutation] = attention(x[permutation])
    return (output - attention(x)).norm().item() < 1e-3


@is_order_blind.alternative
def with_numpy(attention, x, permutation):
    order = permutation.numpy()
    moved = attention(torch.from_numpy(x.detach().numpy()[order].copy())).detach().numpy()
    return bool((abs(moved - attention(x).detach().numpy()[order]) < 1e-4).all())


# -------------------------------------------------------------------------------------------- rope_frequencies

rope_frequencies = exercise("rope_frequencies", points=3, see=CLOCKS, forbidden=BUILT_IN)
rope_frequencies.hints = (
    "How many pairs are there for a given dim, and what is the number of the last one? What is the exponent for the "
    "first pair, whatever dim is?",
    "Write all exponents as one tensor first: -2i/dim for i = 0, 1, 2, … An `arange` in steps of two has the 2i. Then "
    "raise base to all of them at once. And before that: can this dim be cut into pairs?",
    "`if dim % …: raise ValueError(…)`, naming dim and its value; `i = torch.arange(…, dtype=torch.float32)`, of "
    "`dim // 2` numbers; `return base ** (…)`.",
)


@rope_frequencies.oracle
def rope_frequencies_oracle(dim, base=10000.0):
    if dim % 2:
        raise ValueError(f"dim is {dim}, and must be even")
    return torch.tensor([math.pow(base, -2 * i / dim) for i in range(dim // 2)], dtype=torch.float32)


@rope_frequencies.example("two pairs")
def _():
    yield call(4)


@rope_frequencies.example("three pairs, base 1000")
def _():
    yield call(6, base=1000.0)


@rope_frequencies.example("four pairs, base 16")
def _():
    yield call(8, 16.0)


@rope_frequencies.example("a single pair")
def _():
    yield call(2)


@rope_frequencies.example("an odd dim")
def _():
    yield call(5).raising("dim")


# The smallest frequency counts as much as the largest, so the tolerance is relative only: 1e-4 of each. In float32 the
# exponent of a power or the argument of exp is off by 1e-6 at most, a running product of 128 factors by 2e-5; half
# precision is off by 5e-4 and more.
def frequencies(*args, **kwargs):
    return call(*args, **kwargs).within(1e-4)


@rope_frequencies.criterion("for any even dim", points=1)
def _(draw):
    for dim in (2, 6, 8, 14, 64, 256):
        yield frequencies(dim)
    yield frequencies(dim=2 * draw.integer(8, 30))


@rope_frequencies.criterion("for any base", points=1)
def _(draw):
    yield frequencies(8, base=draw.number(20.0, 200.0))
    yield frequencies(12, draw.number(2e5, 8e5))
    yield frequencies(dim=10, base=500000.0)
    yield frequencies(2, base=10.0)
    yield frequencies(128, base=1e6)


@rope_frequencies.criterion("ValueError if dim is odd", points=1)
def _(draw):
    yield call(7).raising("dim")
    yield call(1).raising("dim")
    yield call(dim=2 * draw.integer(10, 60) + 1, base=100.0).raising("dim")
    yield call(129, base=10.0).raising("dim")


FOR_DIMS = ("for any even dim", "for any base")
ODD = "ValueError if dim is odd"


def must_be_even(dim):
    """For the mistakes below, which get something else wrong."""
    if dim % 2:
        raise ValueError(f"dim is {dim}, and must be even")


@rope_frequencies.mistake(
    "The factor 2 is missing: pair i has the exponent -2i/dim, so that the last pair comes close to 1/base.",
    shows=FOR_DIMS,
)
def misses_the_two(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-torch.arange(dim // 2) / dim)


@rope_frequencies.mistake(
    "The sign of the exponent is missing: these grow from pair to pair. The first pair turns fastest, all others slower.",
    shows=FOR_DIMS,
)
def misses_the_minus(dim, base=10000.0):
    must_be_even(dim)
    return base ** (torch.arange(0, dim, 2) / dim)


@rope_frequencies.mistake(
    "Counted from 1: the first pair has i = 0, and the frequency 1 whatever base is.", shows=FOR_DIMS
)
def counts_from_one(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-2.0 * torch.arange(1, dim // 2 + 1) / dim)


@rope_frequencies.mistake(
    "The exponent -(2k - 1)/dim stands in a paper or a handout that counts pairs from 1 and takes half a step less. Here "
    "pair i, counted from 0, has -2i/dim.",
    shows=FOR_DIMS,
)
def odd_exponents(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-(2.0 * torch.arange(1, dim // 2 + 1) - 1) / dim)


@rope_frequencies.mistake(
    "The exponents run evenly from 0 to -1 with both ends. The last one is -(dim - 2)/dim, a step short of -1.",
    shows=FOR_DIMS,
)
def reaches_the_end(dim, base=10000.0):
    must_be_even(dim)
    return base ** -torch.linspace(0, 1, dim // 2)


@rope_frequencies.mistake("`base` changes nothing: it is an argument, 10000 only by default.", shows="for any base")
def ignores_base(dim, base=10000.0):
    must_be_even(dim)
    return 10000.0 ** (-torch.arange(0, dim, 2) / dim)


@rope_frequencies.mistake(
    "Whole-number division: `2 * i // dim` is 0 for every pair, and all of them get the frequency 1.", shows=FOR_DIMS
)
def divides_whole(dim, base=10000.0):
    must_be_even(dim)
    return base ** -(torch.arange(0, dim, 2) // dim).float()


@rope_frequencies.mistake(
    "Every frequency stands there twice. There is one for each pair, so the result has dim // 2 numbers.",
    shows=FOR_DIMS,
)
def one_for_each_number(dim, base=10000.0):
    must_be_even(dim)
    return (base ** (-torch.arange(0, dim, 2) / dim)).repeat_interleave(2)


@rope_frequencies.mistake(
    "Every frequency stands there twice, all of them and then all again. There is one for each pair: dim // 2 numbers.",
    shows=FOR_DIMS,
)
def twice_in_a_row(dim, base=10000.0):
    must_be_even(dim)
    return (base ** (-torch.arange(0, dim, 2) / dim)).repeat(2)


@rope_frequencies.mistake(
    "These are one for each number, dim of them, each a little slower than the one before. Two neighbours make a pair, "
    "and turn together.",
    shows=FOR_DIMS,
)
def one_for_each_place(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-torch.arange(dim) / dim)


@rope_frequencies.mistake(
    "The frequencies stand in reverse: the first pair is the fastest.", shows=FOR_DIMS
)
def slowest_first(dim, base=10000.0):
    must_be_even(dim)
    return (base ** (-torch.arange(0, dim, 2) / dim)).flip(0)


@rope_frequencies.mistake(
    "These are turns, not angles in radians, or the other way round: there is a factor of 2π too many. A frequency of 1 "
    "means one radian for each position.",
    shows=FOR_DIMS,
)
def times_two_pi(dim, base=10000.0):
    must_be_even(dim)
    return 2 * math.pi * base ** (-torch.arange(0, dim, 2) / dim)


@rope_frequencies.mistake(
    "`torch.log10`, or a logarithm to another base than that of the `exp` around it: exp undoes the natural logarithm, "
    "`math.log`.",
    shows=FOR_DIMS,
)
def exp_of_another_logarithm(dim, base=10000.0):
    must_be_even(dim)
    return torch.exp(-torch.arange(0, dim, 2) / dim * math.log10(base))


@rope_frequencies.mistake(
    "The exponents were computed in half precision. At position 10,000 even a small error of the frequency has grown to "
    "many radians: compute them in float32.",
    shows=FOR_DIMS,
)
def in_half_precision(dim, base=10000.0):
    must_be_even(dim)
    return (base ** (-torch.arange(0, dim, 2).bfloat16() / dim).float()).bfloat16().float()


@rope_frequencies.mistake("The numbers are right, the dtype is float64: the contract asks for float32.", shows=FOR_DIMS)
def in_float64(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


@rope_frequencies.mistake("A Python list: return a tensor of shape (dim // 2,).", shows=FOR_DIMS)
def as_a_list(dim, base=10000.0):
    must_be_even(dim)
    return [base ** (-2 * i / dim) for i in range(dim // 2)]


@rope_frequencies.mistake(
    "An odd dim is not refused: one number would be left without a partner. Raise a ValueError that names dim and its "
    "value.",
    shows=ODD,
)
def takes_an_odd_dim(dim, base=10000.0):
    return base ** (-2.0 * torch.arange(dim // 2) / dim)


@rope_frequencies.mistake(
    "The ValueError does not say what was wrong: name the argument, dim, and its value in the message.", shows=ODD
)
def refuses_without_saying_why(dim, base=10000.0):
    if dim % 2:
        raise ValueError("the width must be even")
    return base ** (-2.0 * torch.arange(dim // 2) / dim)


@rope_frequencies.mistake(
    "An `assert` raises an AssertionError, and can be switched off. Raise a ValueError that names dim and its value.",
    shows=ODD,
)
def asserts(dim, base=10000.0):
    assert dim % 2 == 0, f"dim is {dim}"
    return base ** (-2.0 * torch.arange(dim // 2) / dim)


@rope_frequencies.alternative
def one_over_a_power(dim, base=10000.0):
    if dim % 2 != 0:
        raise ValueError(f"expected an even dim, got {dim}")
    return 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))


@rope_frequencies.alternative
def by_exp_and_log(dim, base=10000.0):
    pairs, odd = divmod(dim, 2)
    if odd:
        raise ValueError(f"{dim=} is odd")
    return torch.exp(torch.arange(pairs, dtype=torch.float32) * (-math.log(base) / pairs))


@rope_frequencies.alternative
def by_a_running_product(dim, base=10000.0):
    if dim & 1:
        raise ValueError("dim must be even, not " + str(dim))
    steps = torch.full((dim // 2,), base ** (-2 / dim))
    steps[0] = 1.0
    return steps.cumprod(0)


@rope_frequencies.alternative
def by_logspace(dim, base=10000.0):
    if dim // 2 * 2 != dim:
        raise ValueError(f"dim: {dim} cannot be cut into pairs")
    return torch.logspace(0, -(dim - 2) / dim, steps=dim // 2, base=base)


@rope_frequencies.alternative
def in_double_and_rounded(dim, base=10000.0):
    if dim % 2 == 1:
        raise ValueError("dim (%d) has to be even" % dim)
    exponents = torch.linspace(0, -1, dim // 2 + 1, dtype=torch.float64)[:-1]
    return torch.pow(torch.tensor(base, dtype=torch.float64), exponents).to(torch.float32)


@rope_frequencies.alternative
def by_a_loop(dim, base=10000.0):
    if dim % 2:
        raise ValueError(f"dim={dim!r}")
    made = torch.zeros(dim // 2)
    for i in range(len(made)):
        made[i] = base ** -(2 * i / dim)
    return made


@rope_frequencies.alternative
def by_powers_of_two(dim, base=10000.0):
    if dim % 2:
        raise ValueError(f"dim was {dim}; give an even one")
    return torch.exp2(-math.log2(base) * torch.arange(dim)[::2] / dim).reciprocal().pow(-1)


# -------------------------------------------------------------------------------------------------- apply_rope

apply_rope = exercise("apply_rope", points=6, see=ROTATING, forbidden=BUILT_IN)
apply_rope.hints = (
    "For one vector of four numbers at position 3: which two angles are needed, and which of the four numbers does each "
    "of them concern?",
    "Make a table of angles (T, dim // 2), every position times every frequency; its cosines and sines broadcast over "
    "whatever dimensions x has in front. Then take all first members of the pairs, x[..., 0::2], and all second ones, "
    "turn them, and put them back between each other.",
    "`angles = positions[:, None] * …`, `cos, sin = …`; `even, odd = x[..., 0::2], x[..., 1::2]`; `turned = torch.stack(["
    "…, …], dim=-1)`, of shape (..., T, dim // 2, 2); `return turned.flatten(…)`, in the dtype of x.",
)


@apply_rope.oracle
def apply_rope_oracle(x, positions, base=10000.0):
    dim = x.shape[-1]
    exponents = torch.arange(0, dim, 2, dtype=torch.float64, device=x.device) / -dim
    angles = positions.to(x.device, torch.float64)[:, None] * float(base) ** exponents  # (T, dim / 2)
    cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
    turn = torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])  # (from, to, T, dim / 2)
    return torch.einsum("...tif,fgti->...tig", x.unflatten(-1, (-1, 2)), turn).flatten(-2)


def turned(case, far):
    """Judged with room for angles in float32, for positions up to `far` (see the top of this file)."""
    return case.within(1e-4, max(1e-5, 1e-6 * far))


@apply_rope.example("a quarter of a turn, nearly: the pair (1, 0) at position 1.5707964")
def _():
    yield turned(call(torch.tensor([[1.0, 0.0]]), torch.tensor([math.pi / 2])), 2)


@apply_rope.example("one pair at three positions")
def _():
    yield turned(call(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1, 2])), 2)


@apply_rope.example("two pairs, base 100: the second turns ten times slower")
def _():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    yield turned(call(x, torch.tensor([5, 2]), base=100.0), 5)


@apply_rope.example("a batch of two, with two heads, with gradients")
def _():
    x = torch.arange(1.0, 49.0).reshape(2, 2, 3, 4).sin()
    yield turned(call(x, torch.tensor([0, 3, 1])).with_gradients(), 3)


@apply_rope.example("far away, and between two whole positions")
def _():
    x = torch.tensor([[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
    yield turned(call(x, torch.tensor([9000.0, 0.5])), 9000)


@apply_rope.criterion("every pair is turned by its angle", points=1.5)
def _(draw):
    for T, dim in ((5, 2), (7, 4), (3, 6), (4, 14), (9, 64)):
        yield turned(call(draw.normal(T, dim), torch.arange(T)), T)
    yield turned(call(draw.normal(1, 8), torch.tensor([draw.integer(3, 9)])), 9)


@apply_rope.criterion("any positions, in any order", points=1)
def _(draw):
    yield turned(call(draw.normal(6, 8), draw.permutation(40)[:6]), 40)
    yield turned(call(draw.normal(2, 5, 4), torch.tensor([17, 3, 3, 0, 11])), 17)  # one of them twice
    yield turned(call(draw.normal(7, 6), draw.uniform(7, low=0.0, high=30.0)), 30)  # fractions
    yield turned(call(draw.normal(3, 4, 8), draw.permutation(50)[:4] + draw.number(0.2, 0.8)), 51)
    yield turned(call(draw.normal(4, 10), positions=-draw.permutation(20)[:4] - 1), 20)
    yield turned(call(draw.normal(2, 6, 6), non_contiguous(draw.permutation(30)[:6])), 30)


@apply_rope.criterion("any leading dimensions", points=1)
def _(draw):
    for lead in ((3,), (2, 3), (3, 1, 2), (2, 1, 3, 2)):
        yield turned(call(draw.normal(*lead, 5, 8), draw.permutation(25)[:5]), 25)
    # heads cut out of wider vectors, as a module does it: (B, T, H, K), then heads and positions change places
    yield turned(call(draw.normal(2, 7, 3, 6).transpose(1, 2), draw.permutation(25)[:7]), 25)
    yield turned(call(draw.normal(4, 1, 6), draw.integers(5, 9, 1)), 9)


@apply_rope.criterion("positions as far as 10,000", points=0.5)
def _(draw):
    yield turned(call(draw.normal(6, 8), draw.integers(2000, 10001, 6)), 10000)
    yield turned(call(draw.normal(2, 5, 64), torch.tensor([10000, 0, 4096, 9999, 600])), 10000)
    yield turned(call(draw.normal(4, 32), draw.uniform(4, low=500.0, high=9000.0)), 10000)


@apply_rope.criterion("any base", points=0.5)
def _(draw):
    yield turned(call(draw.normal(5, 8), draw.permutation(20)[:5], draw.number(20.0, 90.0)), 20)
    yield turned(call(draw.normal(2, 4, 6), draw.permutation(20)[:4], base=500000.0), 20)


@apply_rope.criterion("gradients", points=1)
def _(draw):
    yield turned(call(draw.normal(5, 6), torch.arange(5)).with_gradients(), 5)
    yield turned(call(draw.normal(2, 3, 4, 8), draw.permutation(20)[:4], base=50.0).with_gradients(), 20)
    yield turned(call(draw.normal(3, 6, 2).double(), draw.permutation(20)[:6]).with_gradients(), 20)


@apply_rope.criterion("float64, any layout in memory, arguments left alone", points=0.5)
def _(draw):
    yield turned(call(draw.normal(2, 5, 8, dtype=torch.float64), draw.permutation(20)[:5]).unchanged(), 20)
    positions = draw.uniform(4, high=20.0, dtype=torch.float64)
    yield turned(call(draw.normal(4, 6, dtype=torch.float64), positions).unchanged(), 20)
    yield turned(call(draw.normal(3, 6), draw.uniform(3, high=20.0)).unchanged(), 20)
    yield turned(call(non_contiguous(draw.normal(2, 5, 6)), draw.permutation(20)[:5]).unchanged(), 20)


PAIRS = "every pair is turned by its angle"
POSITIONS = "any positions, in any order"
LEADING = "any leading dimensions"
FAR = "positions as far as 10,000"
BASE = "any base"
DTYPES = "float64, any layout in memory, arguments left alone"
ROPE_ALL = (PAIRS, POSITIONS, LEADING)


def cos_and_sin(x, positions, base):
    """For the mistakes below: the right cosines and sines, (T, dim / 2) each, in the dtype of x."""
    i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    angles = positions.double()[:, None] * base ** (-i / x.shape[-1])
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def turn_pairs(x, cos, sin):
    """For the mistakes below: neighbouring pairs of x turned by the given cosines and sines."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


@apply_rope.mistake(
    "You pair number i with number i + dim/2. That is the other layout, and it is right for weights that were made for "
    "it; here the pairs are neighbours: 0 and 1, 2 and 3, …",
    shows=ROPE_ALL, see=LAYOUTS,
)  # fmt: skip
def halves_for_neighbours(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


@apply_rope.mistake(
    "Two layouts are mixed: the angles are those of neighbouring pairs, and the partner of each number is taken from "
    "the other half of the vector.",
    shows=ROPE_ALL, see=LAYOUTS,
)  # fmt: skip
def partners_from_the_other_half(x, positions, base=10000.0):
    cos, sin = (t.repeat_interleave(2, dim=-1) for t in cos_and_sin(x, positions, base))
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


@apply_rope.mistake(
    "Every pair is turned rightly, and stored in the wrong place: all first members, then all second ones. They must "
    "stand between each other again, as they did in x.",
    shows=ROPE_ALL, see=LAYOUTS,
)  # fmt: skip
def leaves_the_halves_apart(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)


@apply_rope.mistake(
    "These pairs turn clockwise. Counter-clockwise the sine is subtracted in the first number of a pair and added in the "
    "second: (1, 0), turned a little, has a positive second number.",
    shows=ROPE_ALL, see=TURNING,
)  # fmt: skip
def clockwise(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    return turn_pairs(x, cos, -sin)


@apply_rope.mistake(
    "A minus is missing: both numbers of a pair get the other one *added*. That is no rotation; vectors grow and shrink.",
    shows=ROPE_ALL, see=TURNING,
)  # fmt: skip
def misses_the_minus_sign(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos + odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


@apply_rope.mistake(
    "Cosine and sine have changed places. At position 0 nothing may happen: cos 0 is 1, sin 0 is 0.",
    shows=ROPE_ALL, see=TURNING,
)  # fmt: skip
def exchanges_cosine_and_sine(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    return turn_pairs(x, sin, cos)


@apply_rope.mistake(
    "The partner is missing: each number is multiplied by a cosine, and nothing of its partner is added.",
    shows=ROPE_ALL, see=TURNING,
)  # fmt: skip
def forgets_the_partner(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    return turn_pairs(x, cos, 0 * sin)


@apply_rope.mistake(
    "These are the sines and cosines *added* to x, as in a model with positional encodings. RoPE turns; it adds nothing.",
    shows=ROPE_ALL, see=TURNING,
)  # fmt: skip
def adds_an_encoding(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    return x + torch.stack([sin, cos], dim=-1).flatten(-2)


@apply_rope.mistake(
    "The factor 2 is missing in the exponent: pair i has -2i/dim, so that the last pair comes close to 1/base.",
    shows=ROPE_ALL, see=CLOCKS,
)  # fmt: skip
def exponent_without_the_two(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base**0.5)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "The frequencies grow from pair to pair: a minus is missing in the exponent.", shows=ROPE_ALL, see=CLOCKS
)
def exponent_without_the_minus(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, 1 / base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "All pairs turn equally fast. Each has a frequency of its own.", shows=ROPE_ALL, see=CLOCKS
)
def one_frequency_for_all(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, 1.0)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "The frequencies are counted from 1: the first pair has the frequency 1, whatever base is.", shows=ROPE_ALL, see=CLOCKS
)
def frequencies_counted_from_one(x, positions, base=10000.0):
    dim = x.shape[-1]
    angles = positions.double()[:, None] * base ** (-2.0 * torch.arange(1, dim // 2 + 1) / dim).double()
    return turn_pairs(x, angles.cos().to(x.dtype), angles.sin().to(x.dtype))


@apply_rope.mistake("`base` changes nothing: it is an argument, 10000 only by default.", shows=BASE, see=CLOCKS)
def base_is_ignored(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, 10000.0)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "You count the rows, 0, 1, 2, …, and never look at `positions`.", shows=(POSITIONS, LEADING, FAR)
)
def positions_are_ignored(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, torch.arange(x.shape[-2]), base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "Every vector is turned one position too far: 1 was added to the positions that you were given.", shows=ROPE_ALL
)
def starts_at_one(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions + 1, base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "The positions were made whole numbers. Fractions count: 2.5 lies half-way between 2 and 3.", shows=POSITIONS
)
def whole_positions_only(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions.long(), base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "The positions were put in order before they were used. Row t of x stands at positions[t].", shows=(POSITIONS, LEADING)
)
def sorts_the_positions(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions.sort().values, base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "A table of cosines and sines for whole positions, 512 of them: others cannot be looked up in it. Positions go to "
    "10,000, may be negative, and may be fractions.",
    shows=(POSITIONS, FAR),
)
def looks_up_in_a_short_table(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, torch.arange(512), base)
    return turn_pairs(x, cos[positions], sin[positions])


@apply_rope.mistake(
    "The wrong dimension: you turn by the index along the *first* dimension of x. The positions belong to dimension -2, "
    "whatever stands before it.",
    shows=LEADING,
)
def along_the_first_dimension(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions[torch.arange(x.shape[0]) % len(positions)], base)
    shape = (x.shape[0], *[1] * (x.ndim - 2), x.shape[-1] // 2)
    return turn_pairs(x, cos.view(shape), sin.view(shape))


@apply_rope.mistake(
    "It takes x only with a batch and heads, four dimensions. `...` stands for any number of them, none included.",
    shows=ROPE_ALL,
)
def takes_four_dimensions_only(x, positions, base=10000.0):
    batch, heads, tokens, dim = x.shape
    cos, sin = cos_and_sin(x, positions, base)
    return turn_pairs(x, cos.view(1, 1, tokens, dim // 2), sin.view(1, 1, tokens, dim // 2))


@apply_rope.mistake(
    "The positions were taken for degrees. A frequency of 1 is one radian for each position.", shows=ROPE_ALL, see=TURNING
)
def in_degrees(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, torch.deg2rad(positions.double()), base)
    return turn_pairs(x, cos, sin)


@apply_rope.mistake(
    "The angles were computed in half precision, which cannot tell the position 9,000 from 9,001. Use float32 for them, "
    "whatever dtype x has.",
    shows=(POSITIONS, FAR),
)
def angles_in_half_precision(x, positions, base=10000.0):
    i = torch.arange(0, x.shape[-1], 2, dtype=torch.float32)
    angles = (positions.float()[:, None] * base ** (-i / x.shape[-1])).bfloat16().float()
    return turn_pairs(x, angles.cos().to(x.dtype), angles.sin().to(x.dtype))


@apply_rope.mistake(
    "The result has another dtype than x. Angles may be computed in any precision; the result is of the dtype of x.",
    shows=ROPE_ALL,
)
def result_in_float64(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x.double(), positions, base)
    return turn_pairs(x.double(), cos, sin)


@apply_rope.mistake(
    "The result is float32 whatever x is. It has the dtype of x.", shows=("gradients", DTYPES)
)
def result_in_float32(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x.float(), positions, base)
    return turn_pairs(x.float(), cos, sin)


@apply_rope.mistake(
    "No gradient flows through the result: it was made under no_grad, or from x.detach().", shows="gradients"
)
def without_gradient(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    return turn_pairs(x.detach(), cos, sin)


@apply_rope.mistake(
    "x itself was turned, so whoever called you finds theirs changed. Build a new tensor.", shows=("gradients", DTYPES)
)
def turns_x_in_place(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = even * cos - odd * sin
    x[..., 1::2] = even * sin + odd * cos
    return x


@apply_rope.mistake(
    "The second number of each pair is computed from the first one *after* it was turned. Both need the old values.",
    shows=ROPE_ALL,
)
def uses_what_it_has_overwritten(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    even, odd = x[..., 0::2], x[..., 1::2]
    first = even * cos - odd * sin
    return torch.stack([first, first * sin + odd * cos], dim=-1).flatten(-2)


@apply_rope.mistake(
    "Complex numbers are a fine way, but `torch.view_as_complex` wants the two numbers of a pair side by side in memory. "
    "After a transpose they may not be: call `.contiguous()` first.",
    shows=DTYPES,
)
def as_complex_without_contiguous(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * torch.complex(cos, sin)).flatten(-2)


@apply_rope.alternative
def as_complex_numbers(x, positions, base=10000.0):
    *lead, dim = x.shape
    pairs = torch.view_as_complex(x.reshape(*lead, dim // 2, 2).contiguous())
    frequencies = 1.0 / base ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim)
    angles = torch.outer(positions.float(), frequencies)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)


@apply_rope.alternative
def in_float32_like_llama(x, positions, base=10000.0):
    angles = positions[:, None] * torch.exp(torch.arange(0, x.shape[-1], 2) * (-math.log(base) / x.shape[-1]))
    z = torch.complex(x[..., ::2].float(), x[..., 1::2].float()) * torch.exp(1j * angles)
    return torch.stack((z.real, z.imag), -1).reshape(x.shape).to(x.dtype)


@apply_rope.alternative
def by_rotating_pairs(x, positions, base=10000.0):
    dim = x.size(-1)
    inverse = base ** -(torch.arange(0, dim, 2, dtype=torch.float32, device=x.device) / dim)
    angles = torch.einsum("t,i->ti", positions.to(inverse.dtype), inverse).repeat_interleave(2, dim=1)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    partner = torch.stack((-b, a), dim=-1).flatten(-2)
    return x * angles.cos().to(x) + partner * angles.sin().to(x)


@apply_rope.alternative
def by_matrices(x, positions, base=10000.0):
    T, dim = x.shape[-2:]
    R = torch.zeros(T, dim, dim, dtype=x.dtype)
    for t, p in enumerate(positions.tolist()):
        for i in range(dim // 2):
            angle = p * base ** (-2 * i / dim)
            c, s = math.cos(angle), math.sin(angle)
            R[t, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, -s], [s, c]], dtype=x.dtype)
    return torch.matmul(R, x.unsqueeze(-1)).squeeze(-1)


@apply_rope.alternative
def number_by_number(x, positions, base=10000.0):
    dim, columns = x.shape[-1], []
    for i in range(0, dim, 2):
        angle = positions * (1 / base) ** (i / dim)
        c, s = torch.cos(angle).type(x.dtype), torch.sin(angle).type(x.dtype)
        columns += [x[..., i] * c - x[..., i + 1] * s, x[..., i + 1] * c + x[..., i] * s]
    return torch.stack(columns, dim=-1)


@apply_rope.alternative
def into_an_empty_tensor(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    step = torch.full((half,), base ** (-1 / half), dtype=torch.float64)
    step[0] = 1
    angle = positions.unsqueeze(-1).double() * step.cumprod(0)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    result = torch.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    result[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return result


@apply_rope.alternative
def by_way_of_the_halves(x, positions, base=10000.0):
    T, dim = x.shape[-2:]
    order = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
    y = x[..., order]
    angle = (positions.reshape(T, 1) / base ** torch.linspace(0, 2, dim // 2 + 1)[:-1].div(2)).tile(1, 2)
    rotated = torch.roll(y, dim // 2, -1)
    sign = torch.ones(dim)
    sign[: dim // 2] = -1
    y = y * angle.cos().to(y.dtype) + rotated * (angle.sin() * sign).to(y.dtype)
    return y[..., order.argsort()]


@apply_rope.alternative
def by_the_exponential_of_a_matrix(x, positions, base=10000.0):
    dim = x.shape[-1]
    speeds = torch.tensor([base ** (-i / dim) for i in range(0, dim, 2)], dtype=torch.float64)
    generator = torch.zeros(dim, dim, dtype=torch.float64)
    generator[torch.arange(1, dim, 2), torch.arange(0, dim, 2)] = speeds
    generator = generator - generator.T
    turns = torch.linalg.matrix_exp(positions.double()[:, None, None] * generator).to(x)
    return torch.vmap(lambda one, turn: one @ turn.T, in_dims=(-2, 0), out_dims=-2)(x, turns)


@apply_rope.alternative
def in_polar_coordinates(x, positions, base=10000.0):
    even, odd = x[..., 0::2], x[..., 1::2]
    radius = torch.hypot(even, odd)
    speeds = torch.pow(base, torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / -x.shape[-1])
    angle = torch.atan2(odd, even) + (positions[:, None] * speeds).to(x.dtype)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], -1).view(x.shape)


# ----------------------------------------------------------------------------------------------- to_half_split

to_half_split = exercise("to_half_split", points=2, see=LAYOUTS, forbidden=BUILT_IN)
to_half_split.hints = (
    "Where does x2 go, if x has six numbers? And x1?",
    "All numbers with an even index, in order, then all with an odd one. Slices with a step pick every second number; "
    "only the last dimension is concerned.",
    "`torch.cat([x[..., …], x[..., …]], dim=…)`, with two slices of step 2.",
)


@to_half_split.oracle
def to_half_split_oracle(x):
    dim = x.shape[-1]
    return x.index_select(-1, torch.tensor([*range(0, dim, 2), *range(1, dim, 2)], device=x.device))


@to_half_split.example("six numbers")
def _():
    yield call(torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))


@to_half_split.example("two vectors of eight numbers")
def _():
    yield call(torch.arange(16.0).reshape(2, 8))


@to_half_split.example("a single pair")
def _():
    yield call(torch.tensor([7.0, -1.0]))


@to_half_split.criterion("one vector", points=0.5)
def _(draw):
    for dim in (2, 4, 6, 8, 14, 64):
        yield call(draw.normal(dim))


@to_half_split.criterion("any leading dimensions", points=0.5)
def _(draw):
    for shape in ((5, 6), (3, 4, 10), (2, 3, 5, 8), (1, 2, 3, 1, 6)):
        yield call(draw.normal(*shape))


@to_half_split.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(8)).with_gradients()
    yield call(draw.normal(3, 4, 6)).with_gradients()


@to_half_split.criterion("float64, any layout in memory, arguments left alone", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 6, dtype=torch.float64)).unchanged()
    yield call(draw.normal(4, 10)).unchanged()
    yield call(non_contiguous(draw.normal(3, 8))).unchanged()
    yield call(draw.normal(2, 5, 3, 6).transpose(1, 2)).unchanged()


HALF = ("one vector", LEADING)


@to_half_split.mistake(
    "This is the way back: it takes two halves and puts them between each other. Asked is the way there.", shows=HALF
)
def goes_the_other_way(x):
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)


@to_half_split.mistake("The odd ones come first here. The even ones, x0, x2, …, make the first half.", shows=HALF)
def odd_ones_first(x):
    return torch.cat([x[..., 1::2], x[..., 0::2]], dim=-1)


@to_half_split.mistake(
    "Two halves of consecutive numbers are what you started with: nothing has moved. Pick every second number.", shows=HALF
)
def cuts_in_the_middle(x):
    return torch.cat([x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]], dim=-1)


@to_half_split.mistake("The two numbers of each pair have changed places; the pairs themselves stayed.", shows=HALF)
def exchanges_the_partners(x):
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


@to_half_split.mistake("The halves have changed places. It is the neighbours that are to be separated.", shows=HALF)
def exchanges_the_halves(x):
    return torch.cat(x.chunk(2, dim=-1)[::-1], dim=-1)


@to_half_split.mistake("The second half runs backwards: x1, x3, … are to stand in this order.", shows=HALF)
def second_half_backwards(x):
    return torch.cat([x[..., 0::2], x[..., 1::2].flip(-1)], dim=-1)


@to_half_split.mistake(
    "You reorder the first dimension. The numbers of a vector are the *last* one; for a single vector that is the same, "
    "for several it is not.",
    shows=LEADING,
)
def reorders_the_first_dimension(x):
    return torch.cat([x[0::2], x[1::2]])


@to_half_split.mistake(
    "The halves stand one below the other, in a new dimension: the shape must stay what it was.", shows=HALF
)
def halves_in_a_new_dimension(x):
    return torch.stack([x[..., 0::2], x[..., 1::2]], dim=-2)


@to_half_split.mistake(
    "All vectors were flattened into one: the even numbers of all of them come first. Each vector is reordered by itself.",
    shows=LEADING,
)
def flattens_everything(x):
    return x.reshape(-1, 2).T.reshape(x.shape)


@to_half_split.mistake(
    "A tuple of two halves: join them, so that the result has the shape of x.", shows=HALF
)
def returns_two_halves(x):
    return x[..., 0::2], x[..., 1::2]


@to_half_split.mistake("x was written to. Build a new tensor.", shows=("gradients", DTYPES))
def reorders_in_place(x):
    x[...] = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    return x


@to_half_split.mistake(
    "No gradient comes back: the numbers were detached, or went through numpy, a list or a new tensor.", shows="gradients"
)
def through_a_new_tensor(x):
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1).detach()


@to_half_split.mistake(
    "`view` fails where the numbers do not lie side by side in memory; `reshape` copies then.", shows=DTYPES
)
def by_view(x):
    return x.view(-1, x.shape[-1] // 2, 2).mT.reshape(x.shape)


@to_half_split.alternative
def exchanging_two_dimensions(x):
    return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


@to_half_split.alternative
def by_an_order(x):
    order = sorted(range(x.shape[-1]), key=lambda i: (i % 2, i))
    return x[..., order]


@to_half_split.alternative
def with_a_permutation_matrix_(x):
    dim = x.shape[-1]
    P = torch.eye(dim, dtype=x.dtype, device=x.device)
    return x @ P[torch.arange(dim).reshape(-1, 2).T.reshape(-1)].T


@to_half_split.alternative
def by_unbinding(x):
    return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)


@to_half_split.alternative
def by_gathering(x):
    half = x.shape[-1] // 2
    index = torch.tensor([2 * (i % half) + i // half for i in range(2 * half)])
    return torch.gather(x, -1, index.expand_as(x))


@to_half_split.alternative
def written_into_zeros(x):
    result = torch.zeros_like(x)
    middle = x.size(-1) // 2
    for i in range(middle):
        result[..., i], result[..., middle + i] = x[..., 2 * i], x[..., 2 * i + 1]
    return result


@to_half_split.alternative
def by_movedim_and_hstack(x):
    y = x.movedim(-1, 0)
    return torch.vstack([y[i : i + 1] for i in (*range(0, len(y), 2), *range(1, len(y), 2))]).movedim(0, -1) if x.ndim > 1 else torch.hstack([x[::2], x[1::2]])
