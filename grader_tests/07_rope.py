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


@is_order_blind.example("the same for four tokens, of which the last two change places; nothing is to be changed")
def _():
    means = torch.ones(4, 4).tril() / torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0], [-3.0, 1.0]])
    yield call(specimen("mixture", matrix=means), x, torch.tensor([0, 1, 3, 2])).unchanged()


@is_order_blind.example("every token gets the one before it, the first one the last; 0, 1, 2, 3, 4 become 1, 3, 0, 4, 2")
def _():
    x = torch.tensor([[1.0], [2.0], [4.0], [7.0], [-3.0]])
    yield call(specimen("mixture", matrix=torch.eye(5).roll(1, 0)), x, torch.tensor([1, 3, 0, 4, 2]))


@is_order_blind.example("the same function; all move on by two places, 0, 1, 2, 3, 4 become 2, 3, 4, 0, 1")
def _():
    x = torch.tensor([[1.0], [2.0], [4.0], [7.0], [-3.0]])
    yield call(specimen("mixture", matrix=torch.eye(5).roll(1, 0)), x, torch.tensor([2, 3, 4, 0, 1]))


@is_order_blind.example("the mean of all; the third output holds 0.02 times the second token more")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[2, 1] += 0.02
    x = torch.tensor([[-2.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    yield call(specimen("mixture", matrix=matrix), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("the mean of what came up to it, and nothing changes places")
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(specimen("mixture", matrix=means), torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]), torch.tensor([0, 1, 2]))


@is_order_blind.example("the mean of all, and 0.000002 times the second token, as rounding might add it")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[0, 1] += 2e-6
    yield call(specimen("mixture", matrix=matrix), torch.tensor([[1.0], [-1.0], [0.0]]), torch.tensor([1, 2, 0]))


def scrambled(draw, T):
    """A permutation of at least five places that returns none after one step or two, and is no shift of all places."""
    while True:
        found = draw.permutation(T)
        again = (found == torch.arange(T)) | (found[found] == torch.arange(T))
        if not again.any() and len(((found - torch.arange(T)) % T).unique()) > 1:
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
    """Tokens (T, D) with entries between 0.4 and 0.9 in magnitude: none is small, and none takes all attention."""
    return draw.uniform(T, D, low=0.4, high=0.9, dtype=dtype) * (1.0 - 2.0 * draw.chance(0.5, T, D).to(dtype))


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
        # The outputs are others, and their sum over all tokens is the same; then the sum and length of each output, too
        specimen("mixture", matrix=0.5 * torch.eye(T) + 0.5 * torch.eye(T).roll(1, 1)),
        specimen("mixture", matrix=50.0 * (torch.eye(T) + torch.eye(T).roll(1, 1)), normalised=True),
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
    "One output is permuted the wrong way round. Either permute the output of the unpermuted input just as the input "
    "was, or undo the permutation on the other one; `[permutation]` once more does not undo it.",
    shows=(SEES, GIVEN),
)
def permutes_twice(attention, x, permutation):
    return bool((attention(x[permutation])[permutation] - attention(x)).abs().max() < 1e-4)


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
    "You look at the first output only. The order may matter to any of them.", shows=GIVEN
)
def looks_at_the_first_output_only(attention, x, permutation):
    return bool((attention(x[permutation])[0] - attention(x)[permutation[0]]).abs().max() < 1e-4)


@is_order_blind.mistake(
    "You ask for equal bits. Sums in another order round differently: what is under 1e-5 is no difference.", shows=SMALL
)
def asks_for_equal_bits(attention, x, permutation):
    return torch.equal(attention(x[permutation]), attention(x)[permutation])


@is_order_blind.mistake(
    "It is too strict near 0, as `torch.allclose` is by itself: that forgives 1e-8 there. What is under 1e-5 is rounding; "
    "`atol` says so.",
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


# The smallest frequency counts as much as the largest, so the tolerance is relative only: 4e-5 of each. In float32 the
# exponent of a power or the argument of exp is off by 2e-6 at most, a running product of 128 factors by 2e-5; half
# precision is off by 5e-4 and more, and a base of 10001 by 1e-4.
def frequencies(*args, **kwargs):
    return call(*args, **kwargs).within(4e-5)


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
    "Papers number the pairs from 1 and write -2(i - 1)/dim; yours are numbered from 0, and the 1 is taken off "
    "nevertheless. The first frequency is 1.",
    shows=FOR_DIMS,
)
def takes_one_off_twice(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-2.0 * (torch.arange(dim // 2) - 1) / dim)


@rope_frequencies.mistake(
    "The exponent -(2k - 1)/dim stands in a paper or a handout that counts pairs from 1 and takes half a step less. Here "
    "pair i, counted from 0, has -2i/dim.",
    shows=FOR_DIMS,
)
def odd_exponents(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-(2.0 * torch.arange(1, dim // 2 + 1) - 1) / dim)


@rope_frequencies.mistake(
    "The exponents run twice as far as they must: 2i is divided by dim // 2. Divide 2i by dim, or i by dim // 2.",
    shows=FOR_DIMS,
)
def divides_by_half_the_dim(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-torch.arange(0, dim, 2) / (dim // 2))


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
    "`angles = positions[:, None] * …`, `cos, sin = …`; `even, odd = …`; `turned = torch.stack(["
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


@apply_rope.example("on paper: position π, base 4, so half a turn and a quarter")
def _():
    yield turned(call(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([math.pi]), base=4.0), 4)


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
    # as many sentences and heads as words: a size does not tell which dimension is which
    yield turned(call(draw.normal(4, 4, 4, 6), draw.permutation(25)[:4]), 25)
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
    s = Script(x=draw.normal(4, 8), positions=draw.permutation(20)[:4])
    s.call(SUBJECT, s.x, s.positions)
    s.call(SUBJECT, s.x, s.positions, 30.0, name="out")  # nothing of the first base may remain
    yield turned(s.case().described("apply_rope(x (4, 8), positions (4,), 30.0), after a call with another base"), 20)


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
    # the dtype of x counts, whatever that of the positions is
    yield turned(call(draw.normal(2, 3, 6), draw.uniform(3, high=20.0, dtype=torch.float64)), 20)
    yield turned(call(draw.normal(3, 8, dtype=torch.float64), draw.uniform(3, high=20.0)), 20)
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
    "The dimension is found by its size: one that has as many entries as `positions` is taken for T, wherever it "
    "stands. T is dimension -2, always.",
    shows=LEADING,
)
def finds_the_dimension_by_its_size(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    if x.ndim > 2 and x.shape[-3] == len(positions):
        cos, sin = cos[:, None], sin[:, None]
    return turn_pairs(x, cos, sin)


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
    "The frequencies were kept in half precision: at position 10,000 their small error has grown to many radians. Use "
    "float32 for them, whatever dtype x has.",
    shows=(POSITIONS, FAR),
)
def frequencies_in_half_precision(x, positions, base=10000.0):
    i = torch.arange(0, x.shape[-1], 2, dtype=torch.float32)
    angles = positions.float()[:, None] * (base ** (-i / x.shape[-1])).bfloat16().float()
    return turn_pairs(x, angles.cos().to(x.dtype), angles.sin().to(x.dtype))


@apply_rope.mistake(
    "The result has another dtype than x. Angles may be computed in any precision; the result is of the dtype of x.",
    shows=ROPE_ALL,
)
def result_in_float64(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x.double(), positions, base)
    return turn_pairs(x.double(), cos, sin)


@apply_rope.mistake(
    "The result takes the dtype of the positions where that is the wider one. It has the dtype of x.", shows=DTYPES
)
def result_as_wide_as_the_positions(x, positions, base=10000.0):
    cos, sin = cos_and_sin(x, positions, base)
    if positions.is_floating_point():
        cos, sin = cos.to(positions.dtype), sin.to(positions.dtype)
    return turn_pairs(x, cos, sin)


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


@to_half_split.example("two vectors of eight numbers, with gradients; nothing is to be changed")
def _():
    yield call(torch.arange(16.0).reshape(2, 8)).with_gradients().unchanged()


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


# ----------------------------------------------------------------------------------------- RotarySelfAttention

rotary = exercise("RotarySelfAttention", points=6, see=MODULE, forbidden=BUILT_IN)
rotary.hints = (
    "Of the three, query, key and value: which ones decide who looks where, and which one is what is passed on? And when "
    "is the width that apply_rope sees the width of one head?",
    "In `__init__` make two layers, `W_qkv` from D to 3D and `W_o` from D to D. In `forward`: project once, cut the result "
    "into q, k and v, split each into heads, (B, H, T, K), rotate q and k by the same positions, and go on as in lesson "
    "6. A row in which everything is blocked needs care: what is the softmax of nothing but −∞?",
    "`q, k, v = self.W_qkv(x).chunk(3, dim=…)`, each then `.unflatten(-1, (…, …)).transpose(…, …)`; `if positions is None: "
    "positions = torch.arange(…)`; `q, k = apply_rope(q, …), apply_rope(k, …)`; `scores = … / …`; `weights = …`; `return "
    "self.W_o(…), weights`.",
)


@rotary.oracle
class RotaryOracle(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.n_heads, self.base = n_heads, base
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        size = x.shape[2] // self.n_heads
        packed = self.W_qkv.weight.view(3, self.n_heads, size, x.shape[2])
        q, k, v = torch.einsum("btd,nhkd->nbhtk", x, packed)
        exponents = torch.arange(0, size, 2, dtype=torch.float64, device=x.device) / -size
        angles = positions.double()[:, None] * float(self.base) ** exponents
        turn = torch.complex(angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        q, k = (torch.complex(t[..., 0::2], t[..., 1::2]) * turn for t in (q, k))
        scores = torch.einsum("bhti,bhsi->bhts", q, k.conj()).real / math.sqrt(size)
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        mixed = self.W_o.weight.unflatten(1, (self.n_heads, size))
        return torch.einsum("bhts,bhsk,dhk->btd", weights, v, mixed), weights


def attend(state, n_heads, *, base=None, training=False, exactly=False, **inputs):
    """Construct, give weights, call with x, positions, mask by name; observes the result as "out"."""
    s = Script(**inputs)
    width = len(state["W_o.weight"])
    m = s.call(SUBJECT, width, n_heads, **({} if base is None else {"base": base}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    s.call(m, s.x, **{n: ref(n) for n in inputs if n != "x"}, name="out")
    return s.case(ref("out"))


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = draw.state(W_qkv__weight=(3 * width, width), W_o__weight=(width, width))
    state["W_qkv.weight"][: 2 * width] *= 1.3
    return state


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) in which every row has an open key."""
    mask = draw.chance(0.5, *shape)
    mask[..., draw.integer(0, shape[-1])] = False
    return mask


def far_apart(draw, T):
    """T positions in disorder, with gaps of up to twelve between neighbours: not 0 … T-1, nor that shifted."""
    return (torch.arange(T) * 2 + draw.integers(0, 10, T).cumsum(0))[draw.permutation(T)]


def plain_weights():
    """Small whole numbers for the visible examples: no matrix is symmetric, no two are equal."""
    q = torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]])
    k = torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1], [0, -1, 1, 0], [0, 0, 0, 1]])
    v = torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 1, 0], [3, 0, 0, 1]])
    o = torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    return {"W_qkv.weight": torch.cat([q, k, v]), "W_o.weight": o}


WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1], [1, 1, 0, -1]], [[2.0, 1, 0, -1], [1, -1, 1, 0], [0, 0, 1, 1]]])


@rotary.example("one head of width 2, all matrices the identity, the same word twice")
def _():
    eye = {"W_qkv.weight": torch.eye(2).repeat(3, 1), "W_o.weight": torch.eye(2)}
    case = attend(eye, 1, exactly=True, x=torch.tensor([[[2.0, 0.0], [2.0, 0.0]]]))
    yield case.described("RotarySelfAttention(2, 1) on x = [[2, 0], [2, 0]]")


@rotary.example("two sentences of three words, two heads, with gradients")
def _():
    yield attend(plain_weights(), 2, x=WORDS).with_gradients().described("RotarySelfAttention(4, 2); x (2, 3, 4)")


@rotary.example("at positions 7, 2 and 2.5, base 100")
def _():
    case = attend(plain_weights(), 1, base=100.0, x=WORDS, positions=torch.tensor([7.0, 2.0, 2.5]))
    yield turned(case, 7).described("RotarySelfAttention(4, 1, base=100.0); x (2, 3, 4), positions [7, 2, 2.5]")


@rotary.example("two heads of four numbers, at the positions 10, 0 and 4")
def _():
    state = {"W_qkv.weight": torch.arange(192.0).sin().view(24, 8), "W_o.weight": torch.arange(64.0).cos().view(8, 8)}
    case = attend(state, 2, x=torch.arange(24.0).sin().view(1, 3, 8), positions=torch.tensor([10, 0, 4]))
    yield turned(case, 50).described("RotarySelfAttention(8, 2); x (1, 3, 8), positions [10, 0, 4]")


@rotary.example("a causal mask (T, T)")
def _():
    case = attend(plain_weights(), 2, x=WORDS, mask=torch.ones(3, 3).triu(1).bool())
    yield case.described("RotarySelfAttention(4, 2); x (2, 3, 4), mask (3, 3), no word sees what comes after it")


@rotary.example("a padding mask (B, 1, 1, T), in which all of the second sentence is blocked")
def _():
    mask = torch.tensor([[False, False, True], [True, True, True]]).view(2, 1, 1, 3)
    case = attend(plain_weights(), 2, x=WORDS, mask=mask).with_gradients()
    yield case.described("RotarySelfAttention(4, 2); x (2, 3, 4), mask (2, 1, 1, 3)")


@rotary.criterion("its parameters: W_qkv (3D, D) and W_o (D, D), nothing else", points=0.5)
def _(draw):
    for width, n_heads in ((8, 2), (12, 3)):
        s = Script()
        m = s.call(SUBJECT, width, n_heads, name="module")
        # raises where a name or a shape is wrong; what the module computes is no matter here
        s.call(helper("load_weights"), m, weights(draw, width), name="prepared")
        yield s.case(ref("prepared")).holding(lambda seen, exact: None)


@rotary.criterion("self-attention over 0 … T-1", points=1)
def _(draw):
    yield turned(attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12)), 5)
    yield turned(attend(weights(draw, 20), 2, x=draw.normal(3, 7, 20)), 7)
    yield turned(attend(weights(draw, 6), 3, training=True, x=draw.normal(2, 9, 6)), 9)
    yield turned(attend(weights(draw, 8), 1, x=draw.normal(1, 4, 8)), 4)
    yield turned(attend(weights(draw, 8), 2, x=draw.normal(3, 1, 8)), 1)
    s = Script(x=draw.normal(2, 5, 8), positions=far_apart(draw, 5), mask=open_somewhere(draw, 5, 5))
    m = s.call(SUBJECT, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, s.positions, s.mask)
    s.call(m, s.x, name="out")  # no positions and no mask of the first call may remain
    yield turned(s.case(ref("out")).described("x (2, 5, 8), after a call with positions and a mask"), 5)


# A score is a sum over K entries of products of two rotated numbers; two angles are off by 1e-6 * far at most, so a
# score of a few units, and with it the logarithm of a weight, is off by a few times that.
@rotary.criterion("the positions that are given", points=1)
def _(draw):
    yield turned(attend(weights(draw, 12), 3, x=draw.normal(2, 6, 12), positions=far_apart(draw, 6)), 200)
    fractions = draw.uniform(5, low=0.0, high=20.0)
    yield turned(attend(weights(draw, 16), 2, x=draw.normal(3, 5, 16), positions=fractions), 100)
    far = draw.integers(3000, 9000, 4)
    case = attend(weights(draw, 12), 2, x=draw.normal(2, 4, 12), positions=far)
    yield case.within(5e-2, 3e-2)
    yield turned(attend(weights(draw, 8), 2, x=draw.normal(2, 4, 8), positions=torch.tensor([5, 0, 5, 9])), 50)

    s = Script(before=draw.normal(2, 6, 8), x=draw.normal(3, 6, 8), positions=far_apart(draw, 6))
    m = s.call(SUBJECT, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.before)
    s.call(m, s.x, s.positions, name="out")  # by position; nothing of the first call may remain
    yield turned(s.case(ref("out")), 200)


@rotary.criterion("the base that is given", points=0.5)
def _(draw):
    for base in (draw.number(10.0, 40.0), 500000.0):
        case = attend(weights(draw, 12), 2, base=base, x=draw.normal(2, 5, 12), positions=far_apart(draw, 5))
        yield turned(case, 200)
    s = Script(x=draw.normal(2, 6, 8))
    m = s.call(SUBJECT, d_model=8, n_heads=1, base=30.0, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, name="out")
    yield turned(s.case(ref("out")), 6)


@rotary.criterion("masks of every shape that broadcasts", points=0.5)
def _(draw):
    for shape in ((5, 5), (2, 1, 1, 5), (2, 1, 5, 5), (2, 3, 5, 5), (3, 1, 5), (5,)):
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), mask=open_somewhere(draw, *shape))
        yield turned(case, 5)
    s = Script(x=draw.normal(3, 6, 8), positions=far_apart(draw, 6), mask=torch.ones(6, 6).triu(1).bool())
    m = s.call(SUBJECT, 8, 2, 100.0, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, s.positions, s.mask, name="out")  # all by position
    yield turned(s.case(ref("out")), 200)


def zero_where_all_is_blocked(mask, shape):
    """Judges rows that are blocked throughout, and that nothing is NaN, in the gradients too."""
    full = mask.expand(shape).all(-1)  # (B, H, T)
    empty = full.all(1)  # (B, T): blocked in every head, so that W_o mixes nothing but zeros

    def holds(seen, exact):
        output, given = seen.values["out"]
        if tuple(given.shape) != tuple(shape) or output.shape[:2] != empty.shape:
            return f"output {tuple(output.shape)} and weights {tuple(given.shape)} do not have the right shapes"
        if not (torch.isfinite(output).all() and torch.isfinite(given).all()):
            return "output or weights are NaN or infinite where a row is blocked throughout"
        if given[full].any():
            return "the weights of a row that is blocked throughout are not all 0"
        if output[empty].any():
            return "the output of a row that is blocked throughout is not 0"
        bad = [name for name, g in (seen.gradients or {}).items() if g is not None and not torch.isfinite(g).all()]
        return f"the gradient for `{bad[0]}` is NaN or infinite" if bad else None

    return holds


@rotary.criterion("a fully blocked row: zeros, never NaN", points=0.5)
def _(draw):
    some = draw.chance(0.4, 5, 5)
    some[2] = True
    padded = draw.chance(0.4, 2, 1, 1, 5)
    padded[1] = True
    one_head = torch.tensor([False, True, False]).view(3, 1, 1)
    for mask in (some, padded, one_head, torch.ones(2, 1, 5, 5, dtype=torch.bool)):
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), mask=mask)
        yield case.with_gradients().holding(zero_where_all_is_blocked(mask, (2, 3, 5, 5)))


@rotary.criterion("scores of any size", points=0.5)
def _(draw):
    # All scores of a case are about -1e13, or all about 1e13, and they lie far apart. All tokens stand at the same
    # place, 0, so that nothing is turned and no rounding of an angle can change an order.
    steps = 2.0 + draw.permutation(5)
    x = 1e6 * steps.view(1, 5, 1) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    smallest, largest = int(steps.argmin()), int(steps.argmax())

    def case(n_heads, sign, **masks):
        state = {"W_qkv.weight": torch.cat([torch.eye(6), sign * torch.eye(6), torch.eye(6)]), "W_o.weight": torch.eye(6)}
        return attend(state, n_heads, x=x, positions=torch.zeros(5, dtype=torch.int64), **masks)

    yield case(3, -1).described("RotarySelfAttention(6, 3); scores of about -1e13, all positions 0")
    # Blocked scores that are set to -1e9 become the greatest
    mask = draw.chance(0.5, 5, 5)
    mask[:, largest], mask[:, smallest] = True, False
    yield case(1, -1, mask=mask).described("RotarySelfAttention(6, 1); scores of about -1e13; mask (5, 5)")
    # The greatest score is blocked: a softmax over all keys leaves nothing for the others
    yield case(1, 1, mask=mask).described("RotarySelfAttention(6, 1); scores of about 1e13; mask (5, 5)")


@rotary.criterion("gradients", points=1)
def _(draw):
    yield turned(attend(weights(draw, 12), 3, training=True, x=draw.normal(2, 5, 12)).with_gradients(), 10)
    mask = open_somewhere(draw, 2, 1, 5, 5)
    mask[0, 0, 3] = True  # a row that is blocked throughout must not spoil the others
    case = attend(weights(draw, 8), 2, base=30.0, x=draw.normal(2, 5, 8), positions=far_apart(draw, 5), mask=mask)
    yield turned(case.with_gradients(), 200)


@rotary.criterion("float64, any layout in memory, arguments left alone", points=0.5)
def _(draw):
    yield turned(attend(
        {n: w.double() for n, w in weights(draw, 12).items()}, 3, x=draw.normal(2, 5, 12, dtype=torch.float64),
        positions=far_apart(draw, 5), mask=open_somewhere(draw, 5, 5),
    ).unchanged(), 200)  # fmt: skip
    yield turned(attend(
        weights(draw, 8), 2, x=draw.normal(5, 2, 8).transpose(0, 1), positions=non_contiguous(far_apart(draw, 5)),
        mask=non_contiguous(open_somewhere(draw, 5, 5)),
    ).unchanged(), 200)  # fmt: skip
    yield turned(attend(weights(draw, 8), 2, x=draw.normal(2, 6, 8), positions=draw.uniform(6, high=9.0)).unchanged(), 9)


class Template(nn.Module):
    """A right answer in small steps, for the mistakes below: each overrides the step that it gets wrong."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.n_heads, self.base = n_heads, base
        self.make(d_model)

    def make(self, d_model):
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def project(self, x):
        return self.W_qkv(x).chunk(3, dim=-1)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def places(self, x, positions):
        return torch.arange(x.shape[1]) if positions is None else positions

    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, positions, self.base))

    def rotate(self, query, key, value, positions):
        return self.turn(query, positions), self.turn(key, positions), value

    def score(self, query, key):
        return query @ key.mT / query.shape[-1] ** 0.5

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)

    def finish(self, output, weights):
        return self.W_o(output), weights

    def forward(self, x, positions=None, mask=None):
        query, key, value = map(self.split, self.project(x))
        query, key, value = self.rotate(query, key, value, self.places(x, positions))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(weights @ value), weights)


PARAMETERS = "its parameters: W_qkv (3D, D) and W_o (D, D), nothing else"
COUNTED = "self-attention over 0 … T-1"
GIVEN_POSITIONS = "the positions that are given"
GIVEN_BASE = "the base that is given"
MASKS = "masks of every shape that broadcasts"
BLOCKED = "a fully blocked row: zeros, never NaN"
ANY_SIZE = "scores of any size"
EVERYWHERE = (COUNTED, GIVEN_POSITIONS, GIVEN_BASE)


@rotary.mistake(
    "Your module gives what attention gives without positions: nothing is rotated, or all words of a head by the same "
    "angle. Words are dimension -2 only after heads and words have changed places; rotate then.",
    shows=EVERYWHERE,
)
class RotatesNothing(Template):
    def rotate(self, query, key, value, positions):
        return query, key, value


@rotary.mistake(
    "Only the queries are rotated. A score depends on the gap between two positions only if both are turned, each by its "
    "own.",
    shows=EVERYWHERE,
)
class RotatesOnlyTheQueries(Template):
    def rotate(self, query, key, value, positions):
        return self.turn(query, positions), key, value


@rotary.mistake(
    "Only the keys are rotated. A score depends on the gap between two positions only if both are turned, each by its own.",
    shows=EVERYWHERE,
)
class RotatesOnlyTheKeys(Template):
    def rotate(self, query, key, value, positions):
        return query, self.turn(key, positions), value


@rotary.mistake(
    "The values are rotated, too. The weights are right, and what they pass on is turned by where it stood: values stay "
    "as they are.",
    shows=EVERYWHERE,
)
class RotatesTheValuesToo(Template):
    def rotate(self, query, key, value, positions):
        return tuple(self.turn(t, positions) for t in (query, key, value))


@rotary.mistake(
    "You rotate before you split the heads, so the frequencies are those of the whole width D: the first head turns fast, "
    "the last hardly at all. Split first; every head has all the clocks.",
    shows=EVERYWHERE,
)
class RotatesBeforeTheSplit(Template):
    def forward(self, x, positions=None, mask=None):
        query, key, value = self.rotate(*self.project(x), self.places(x, positions))
        query, key, value = map(self.split, (query, key, value))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(weights @ value), weights)


@rotary.mistake(
    "x is rotated before it is projected. The projections mix the numbers of a pair with all others, and nothing of the "
    "gap is left: rotate queries and keys.",
    shows=EVERYWHERE,
)
class RotatesTheInput(Template):
    def forward(self, x, positions=None, mask=None):
        query, key, _ = map(self.split, self.project(self.turn(x, self.places(x, positions))))
        value = self.split(self.project(x)[2])
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(weights @ value), weights)


@rotary.mistake(
    "x is rotated before it is projected, and the values are made from it, too. Rotate queries and keys, after the "
    "heads are split.",
    shows=EVERYWHERE,
)
class RotatesTheInputOfAllThree(Template):
    def forward(self, x, positions=None, mask=None):
        query, key, value = map(self.split, self.project(self.turn(x, self.places(x, positions))))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(weights @ value), weights)


@rotary.mistake(
    "You pair number i with number i + K/2. That is the other layout, and needs the rows of W_qkv in another order.",
    shows=EVERYWHERE, see=LAYOUTS,
)  # fmt: skip
class PairsTheHalves(Template):
    def turn(self, x, positions):
        return halves_for_neighbours(x, positions, self.base)


@rotary.mistake(
    "You rotate clockwise. Both queries and keys, so the scores still depend on the gap; but weights that were made for "
    "the other direction do not fit.",
    shows=EVERYWHERE, see=TURNING,
)  # fmt: skip
class TurnsClockwise(Template):
    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, -positions, self.base))


@rotary.mistake(
    "A minus sign is missing: x0 becomes x0·cos − x1·sin. With a plus this is no rotation.",
    shows=EVERYWHERE, see=TURNING,
)  # fmt: skip
class MissesTheMinusSign(Template):
    def turn(self, x, positions):
        return misses_the_minus_sign(x, positions, self.base)


@rotary.mistake(
    "Queries and keys are turned in opposite directions: the score depends on the sum of the positions, not on the gap.",
    shows=EVERYWHERE, see="5. Only the gap counts",
)  # fmt: skip
class TurnsInOppositeDirections(Template):
    def rotate(self, query, key, value, positions):
        return self.turn(query, positions), self.turn(key, -positions), value


@rotary.mistake(
    "`positions` changes nothing: 0 … T-1 is only the default.", shows=(GIVEN_POSITIONS, GIVEN_BASE)
)
class IgnoresThePositions(Template):
    def places(self, x, positions):
        return torch.arange(x.shape[1])


@rotary.mistake(
    "The positions were made whole numbers. Fractions count: 2.5 lies half-way between 2 and 3.", shows=GIVEN_POSITIONS
)
class RoundsThePositions(Template):
    def places(self, x, positions):
        return torch.arange(x.shape[1]) if positions is None else positions.long()


@rotary.mistake(
    "Cosines and sines of the first call are kept and used again, for other positions. Keep frequencies, if anything, or "
    "look at whether the positions are still the same.",
    shows=GIVEN_POSITIONS,
)
class KeepsTheFirstAngles(Template):
    def turn(self, x, positions):
        if not hasattr(self, "kept") or self.kept[0].shape[0] != x.shape[-2]:
            self.kept = cos_and_sin(x, positions, self.base)
        return turn_pairs(x, *self.kept)


@rotary.mistake(
    "Positions that were given once are kept for later calls. Without positions they are 0 … T-1, each time.",
    shows=COUNTED,
)
class RemembersThePositions(Template):
    def places(self, x, positions):
        if positions is not None:
            self.kept = positions
        return getattr(self, "kept", torch.arange(x.shape[1]))


@rotary.mistake(
    "All tokens stand at the same place, for instance at the length of the text so far. Each has a position of its own.",
    shows=COUNTED,
)
class AllAtOnePlace(Template):
    def places(self, x, positions):
        return torch.full((x.shape[1],), x.shape[1]) if positions is None else positions


@rotary.mistake(
    "`base` changes nothing. Hand it on to your rotation.", shows=GIVEN_BASE, see=CLOCKS
)
class IgnoresTheBase(Template):
    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, positions, 10000.0))


@rotary.mistake(
    "The rows of W_qkv are taken in another order: first come those of the queries, then of the keys, then of the values.",
    shows=EVERYWHERE,
)
class TakesKeysBeforeQueries(Template):
    def project(self, x):
        key, query, value = super().project(x)
        return query, key, value


@rotary.mistake(
    "You read W_qkv head by head, q, k and v of head 0 first. Its rows are all queries, then all keys, then all values; "
    "only inside each third do they belong to the heads in turn.",
    shows=(COUNTED, GIVEN_POSITIONS),
)
class ReadsThePackedRowsHeadByHead(Template):
    def project(self, x):
        size = x.shape[-1] // self.n_heads
        parts = self.W_qkv(x).unflatten(-1, (self.n_heads, 3, size))
        return tuple(parts[..., i, :].flatten(-2) for i in range(3))


@rotary.mistake(
    "The frequencies are those of a vector as wide as the model. A head has K numbers, and K stands in the exponent.",
    shows=EVERYWHERE, see=CLOCKS,
)  # fmt: skip
class FrequenciesOfTheModelsWidth(Template):
    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, positions, self.base ** (1 / self.n_heads)))


@rotary.mistake(
    "Cosines and sines are looked up in a table for the positions 0 to 511. Positions may lie farther out, and between two "
    "whole numbers.",
    shows=GIVEN_POSITIONS,
)
class LooksUpInAShortTable(Template):
    def turn(self, x, positions):
        cos, sin = cos_and_sin(x, torch.arange(512), self.base)
        return turn_pairs(x, cos[positions], sin[positions])


@rotary.mistake("The last step is missing: W_o mixes the heads' answers.", shows=EVERYWHERE)
class ForgetsToMix(Template):
    def finish(self, output, weights):
        return output, weights


@rotary.mistake("Your scores are not scaled: divide them by the root of the width of one head.", shows=EVERYWHERE)
class DoesNotScale(Template):
    def score(self, query, key):
        return query @ key.mT


@rotary.mistake("You divide the scores by the width of a head, and must divide by its root.", shows=EVERYWHERE)
class ScalesWithoutTheRoot(Template):
    def score(self, query, key):
        return query @ key.mT / query.shape[-1]


@rotary.mistake(
    "Your softmax runs over the heads: it is the keys, the last dimension, that share the weight.", shows=EVERYWHERE
)
class SoftmaxOverHeads(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(1)
        return scores.masked_fill(mask, torch.finfo(scores.dtype).min).softmax(1).masked_fill(mask, 0.0)


@rotary.mistake("You return the weights first. The order is (output, weights).", shows=EVERYWHERE)
class ReturnsTheWeightsFirst(Template):
    def finish(self, output, weights):
        return weights, self.W_o(output)


@rotary.mistake(
    "Without a mask the future is blocked, as in a language model. Without a mask nothing is blocked.", shows=EVERYWHERE
)
class BlocksTheFutureUnasked(Template):
    def weigh(self, scores, mask):
        T = scores.shape[-1]
        return super().weigh(scores, torch.ones(T, T, dtype=torch.bool).triu(1) if mask is None else mask)


@rotary.mistake(
    "You scale by the width of the model: the scores belong to one head, so its width counts.", shows=EVERYWHERE
)
class ScalesByTheModelsWidth(Template):
    def score(self, query, key):
        return query @ key.mT / (query.shape[-1] * self.n_heads) ** 0.5


@rotary.mistake(
    "You cut the heads by reshape alone, so each of them sees a few whole words: split the last dimension, then exchange "
    "two.",
    shows=EVERYWHERE,
)
class CutsBetweenWords(Template):
    def split(self, x):
        return x.reshape(len(x), self.n_heads, x.shape[1], -1)


@rotary.mistake(
    "The weights are right, the output is not: you merge the heads without exchanging heads and words first.",
    shows=EVERYWHERE,
)
class MergesByReshapeAlone(Template):
    def merge(self, x):
        return x.reshape(len(x), x.shape[2], -1)


@rotary.mistake("Your softmax runs over the queries: it is the keys, the last dimension, that share the weight.", shows=EVERYWHERE)
class SoftmaxOverQueries(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-2)
        return scores.masked_fill(mask, -torch.inf).softmax(-2).masked_fill(mask, 0.0)


@rotary.mistake("You return the mean of the weights over the heads. Return one map for each head.", shows=EVERYWHERE)
class AveragesTheWeights(Template):
    def finish(self, output, weights):
        return self.W_o(output), weights.mean(1)


@rotary.mistake("You return the output alone; the weights belong to it: (output, weights).", shows=EVERYWHERE)
class ReturnsTheOutputAlone(Template):
    def finish(self, output, weights):
        return self.W_o(output)


@rotary.mistake("Your mask works the wrong way round: True means blocked.", shows=(MASKS, BLOCKED))
class InvertsTheMask(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else ~mask)


@rotary.mistake("The mask changes nothing.", shows=(MASKS, BLOCKED))
class IgnoresTheMask(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1)


@rotary.mistake(
    "You set blocked weights to 0 after the softmax, and so the others no longer sum to 1. Block the scores.", shows=MASKS
)
class MasksAfterTheSoftmax(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(mask, 0.0)


@rotary.mistake(
    "You add a dimension to the mask. It need not have four; it broadcasts to (B, H, T, T) as it is.", shows=MASKS
)
class AddsADimensionToTheMask(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores, None if mask is None else mask.unsqueeze(1))


@rotary.mistake(
    "A row that is blocked throughout is NaN: the softmax of nothing but −∞. Its weights must be 0.", shows=BLOCKED
)
class LeavesBlockedRowsNaN(Template):
    def weigh(self, scores, mask):
        return scores.softmax(-1) if mask is None else scores.masked_fill(mask, -torch.inf).softmax(-1)


@rotary.mistake(
    "A row that is blocked throughout is NaN in the gradient only: `nan_to_num` repairs the weights, but on the way "
    "back 0 · NaN is NaN. Fill the blocked scores instead of adding −∞.",
    shows=(BLOCKED, "gradients"),
)
class RepairsTheForwardPassOnly(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return (scores + torch.zeros_like(scores).masked_fill(mask, -torch.inf)).softmax(-1).nan_to_num(0.0)


@rotary.mistake(
    "A row that is blocked throughout gets equal weights: all its scores are the same large negative number. Its "
    "weights must be 0.",
    shows=BLOCKED,
)
class SpreadsBlockedRowsEvenly(Template):
    def weigh(self, scores, mask):
        lowest = torch.finfo(scores.dtype).min
        return scores.softmax(-1) if mask is None else scores.masked_fill(mask, lowest).softmax(-1)


@rotary.mistake(
    "You set blocked scores to a fixed number such as −1e9. Real scores can be lower than that, and then it is the "
    "blocked ones that win.",
    shows=ANY_SIZE,
)
class FillsWithAFixedNumber(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(mask, -1e9).softmax(-1).masked_fill(mask, 0.0)


@rotary.mistake(
    "Your projections have a bias. Make them with `bias=False`.", shows=PARAMETERS
)
class HasBiases(Template):
    def make(self, d_model):
        self.W_qkv, self.W_o = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)


@rotary.mistake(
    "Your module has W_q, W_k and W_v. Here they are packed into one layer, W_qkv, with 3D outputs.",
    shows=(PARAMETERS, *EVERYWHERE),
)
class HasThreeProjections(Template):
    def make(self, d_model):
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def project(self, x):
        return self.W_q(x), self.W_k(x), self.W_v(x)


@rotary.mistake(
    "Your frequencies are parameters, so training would change them. They are no part of what is learned: compute them, or "
    "register a buffer.",
    shows=PARAMETERS,
)
class LearnsTheFrequencies(Template):
    def make(self, d_model):
        super().make(d_model)
        self.frequencies = nn.Parameter(torch.ones(d_model // self.n_heads // 2))


@rotary.mistake(
    "The numbers are right, but queries and keys were detached (or rotated under no_grad): nothing that they do is ever "
    "learned.",
    shows="gradients",
)
class DetachesTheRotated(Template):
    def turn(self, x, positions):
        return super().turn(x, positions).detach()


@rotary.mistake("You compute in float32 whatever the dtype of x is.", shows=DTYPES)
class ComputesInFloat32(Template):
    def weigh(self, scores, mask):
        return super().weigh(scores.float(), mask)

    def forward(self, x, positions=None, mask=None):
        query, key, value = map(self.split, self.project(x))
        query, key, value = self.rotate(query, key, value, self.places(x, positions))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge((weights @ value.float()).to(x.dtype)), weights)


@rotary.mistake(
    "You turn the mask round in place: whoever handed it to you now holds its opposite. Make a new one with `~mask`.",
    shows=DTYPES,
)
class TurnsTheMaskRoundInPlace(Template):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        mask.logical_not_()
        return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)


@rotary.alternative
class WithComplexNumbers(nn.Module):
    """Packed throughout: queries and keys are rotated as one tensor of complex numbers."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.W_qkv, self.W_o = nn.Linear(d_model, 3 * d_model, False), nn.Linear(d_model, d_model, False)
        self.n_heads = n_heads
        size = d_model // n_heads
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, size, 2).float() / size), persistent=False)

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        qkv = self.W_qkv(x).view(B, T, 3, self.n_heads, D // self.n_heads).permute(2, 0, 3, 1, 4)
        angles = torch.outer(positions.to(self.inv_freq.dtype), self.inv_freq)
        z = torch.view_as_complex(qkv[:2].unflatten(-1, (-1, 2)).contiguous())
        q, k = torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)
        scores = q @ k.transpose(-2, -1) * (D // self.n_heads) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            nothing = mask.expand_as(scores).all(-1, keepdim=True)
            weights = F.softmax(scores.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing, 0.0)
        else:
            weights = F.softmax(scores, dim=-1)
        return self.W_o((weights @ qkv[2]).transpose(1, 2).reshape(B, T, D)), weights


@rotary.alternative
class ByTheGaps(nn.Module):
    """Nothing is rotated: the score is computed from the gap between each two positions, pair of numbers by pair."""

    def __init__(self, d_model: int, n_heads: int, base: float = 10000.0) -> None:
        super().__init__()
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_qkv = nn.Linear(d_model, d_model * 3, bias=False)
        self.h, self.k, self.base = n_heads, d_model // n_heads, base

    def forward(self, x, positions=None, mask=None):
        places = torch.arange(float(x.size(1))) if positions is None else positions.to(x.dtype)
        q, k, v = (t.unflatten(2, (self.h, self.k)).movedim(2, 1) for t in self.W_qkv(x).split(x.size(2), dim=2))
        gap = places[None, :] - places[:, None]  # (query, key)
        scores = 0.0
        for i in range(self.k // 2):
            angle = gap * self.base ** (-2 * i / self.k)
            q0, q1, k0, k1 = (t[..., 2 * i + j] for t in (q, k) for j in (0, 1))
            same = q0[..., :, None] * k0[..., None, :] + q1[..., :, None] * k1[..., None, :]
            across = q1[..., :, None] * k0[..., None, :] - q0[..., :, None] * k1[..., None, :]
            scores = scores + same * angle.cos() + across * angle.sin()
        scores = (scores / math.sqrt(self.k)).to(x.dtype)
        if mask is None:
            weights = scores.softmax(dim=3)
        else:
            blocked = mask.expand(scores.shape)
            weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(-1) * ~blocked
        return self.W_o(torch.einsum("bhts,bhsk->bthk", weights, v).reshape(x.shape)), weights


@rotary.alternative
class HeadByHead(nn.Module):
    """A loop over heads, weights taken from the layer by slices, whole rotation matrices, a softmax by hand."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.heads, self.base = range(n_heads), base

    def rotations(self, positions, size, like):
        blocks = []
        for p in positions.tolist():
            angles = [p * self.base ** (-2 * i / size) for i in range(size // 2)]
            pairs = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in angles]
            blocks.append(torch.block_diag(*pairs))
        return torch.stack(blocks).to(like)

    def forward(self, x, positions=None, mask=None):
        T, D = x.shape[1:]
        size = D // len(self.heads)
        R = self.rotations(torch.arange(T) if positions is None else positions, size, x)
        blocked = torch.zeros((), dtype=torch.bool) if mask is None else mask
        blocked = blocked.expand(len(x), len(self.heads), T, T)
        outputs, maps = [], []
        for h in self.heads:
            rows = [self.W_qkv.weight[part * D + h * size : part * D + (h + 1) * size] for part in range(3)]
            q, k, v = (x @ W.T for W in rows)
            q, k = (torch.einsum("tij,btj->bti", R, t) for t in (q, k))
            scores = torch.bmm(q, k.mT) / size**0.5
            top = scores.masked_fill(blocked[:, h], torch.finfo(x.dtype).min).amax(-1, keepdim=True)
            grown = (scores - top).clamp(max=0.0).exp() * ~blocked[:, h]
            w = grown / grown.sum(-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
            outputs.append(w @ v)
            maps.append(w)
        return F.linear(torch.cat(outputs, -1), self.W_o.weight), torch.stack(maps, dim=1)


@rotary.alternative
class WithATableThatGrows(nn.Module):
    """Heads folded into the batch, cosines looked up where positions are default, an additive mask."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.W_qkv = nn.Linear(in_features=d_model, out_features=3 * d_model, bias=False)
        self.W_o = nn.Linear(in_features=d_model, out_features=d_model, bias=False)
        self.n_heads, self.base = n_heads, base
        self.table = torch.zeros(0, d_model // n_heads // 2, dtype=torch.float64)

    def angles(self, T, positions):
        half = self.table.shape[1]
        speeds = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(self.base) / half))
        if positions is not None:
            return positions.double().unsqueeze(1).mul(speeds)
        if len(self.table) < T:
            self.table = torch.arange(T).unsqueeze(1) * speeds
        return self.table[:T]

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        angles = self.angles(T, positions)
        q, k, v = (
            t.reshape(B, T, self.n_heads, -1).transpose(1, 2).reshape(B * self.n_heads, T, -1)
            for t in torch.tensor_split(self.W_qkv(x), 3, dim=-1)
        )

        def rotated(t):
            out = torch.empty_like(t)
            out[..., ::2] = t[..., ::2] * angles.cos().to(t.dtype) - t[..., 1::2] * angles.sin().to(t.dtype)
            out[..., 1::2] = t[..., 1::2] * angles.cos().to(t.dtype) + t[..., ::2] * angles.sin().to(t.dtype)
            return out

        scores = torch.baddbmm(t_zeros := x.new_zeros(()), rotated(q), rotated(k).mT, beta=0, alpha=q.shape[-1] ** -0.5)
        scores = scores.view(B, self.n_heads, T, T) + t_zeros
        if mask is not None:
            # an extra key with score 0 and no value takes the weight where nothing is open
            mask = mask.expand(scores.shape)
            spare = torch.where(mask.all(-1, keepdim=True), 0.0, -torch.inf).to(scores)
            scores = torch.cat([scores.masked_fill(mask, -torch.inf), spare], -1)
        weights = torch.softmax(scores, -1)[..., :T]
        merged = torch.matmul(weights, v.view(B, self.n_heads, T, -1)).permute(0, 2, 1, 3).contiguous().view(B, T, D)
        return self.W_o(merged), weights


class _Rotation(nn.Module):
    def __init__(self, size, base):
        super().__init__()
        self.register_buffer("speeds", base ** -torch.linspace(0, 1, size // 2 + 1)[:-1])

    def forward(self, x, positions):
        angle = torch.einsum("t,i->ti", positions.to(x.dtype), self.speeds.to(x.dtype))
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1).view_as(x)


@rotary.alternative
class OfTwoModules(nn.Module):
    """The rotation is a module with a buffer; sentences and heads by vmap; softmax through logsumexp."""

    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.W_qkv, self.W_o = (nn.Linear(d_model, n * d_model, bias=False) for n in (3, 1))
        self.rotation = _Rotation(d_model // n_heads, base)
        self.n_heads = n_heads

    def forward(self, x, positions=None, mask=None):
        positions = torch.arange(x.shape[1]) if positions is None else positions
        packed = self.W_qkv(x).unflatten(-1, (3, self.n_heads, -1))
        q, k, v = (packed.select(2, i).transpose(1, 2).contiguous() for i in range(3))
        q, k = self.rotation(q, positions), self.rotation(k, positions)
        scores = torch.vmap(torch.vmap(lambda a, b: a @ b.T))(q, k).div(math.sqrt(q.shape[-1]))
        if mask is None:
            mask = torch.zeros_like(scores, dtype=torch.bool)
        nothing = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask & ~nothing, -math.inf)
        weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True)).masked_fill(nothing, 0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
