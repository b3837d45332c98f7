"""`is_order_blind`: whether permuting the inputs of a function only permutes its outputs."""

from functools import partial

import torch

from grading.exercises.exercise import call, exercise, non_contiguous, sample_model

from ...shared import BUILT_IN
from .cases import (
    asked,
    attending,
    before,
    beyond,
    exchanged,
    loud,
    nudged,
    one_sided,
    scrambled,
    telling,
    turns,
    unlike,
    wheel,
    window,
    with_a_pair,
)

BLIND = "1. Attention does not see the order"

is_order_blind = exercise(
    "is_order_blind",
    see=BLIND,
    forbidden=BUILT_IN,
    hints=(
        "Token 0 moves to position 2. Where is its output if the function is order-blind, and with what do you compare "
        "it?",
        "Run the function twice, on the permuted input and on the input as it is. Permute the *output* of the second "
        "run, and compare entry by entry, with room for rounding.",
        "`moved = attention(x[…])`; `kept = attention(x)[…]`. Compare the largest `abs()` of their difference with "
        "a number between 1e-5 and 1e-2. `bool(…)` makes it a plain answer.",
    ),
)


@is_order_blind.oracle
def is_order_blind_oracle(attention, x, permutation):
    with torch.no_grad():
        moved, kept = attention(x[permutation]), attention(x)[permutation]
    return bool((moved - kept).abs().max() < 3e-4)


@is_order_blind.example("every token gets the mean of all tokens; 0, 1, 2 become 1, 2, 0")
def _():
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]])
    yield call(sample_model("mixture", matrix=torch.full((3, 3), 1 / 3)), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets half of itself and the mean of all; 0, 1, 2 become 1, 2, 0")
def _():
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]])
    yield call(sample_model("mixture", matrix=torch.full((3, 3), 1 / 3) + torch.eye(3) / 2), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets the mean of everything up to and including it")
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(
        sample_model("mixture", matrix=means),
        torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]),
        torch.tensor([1, 2, 0]),
    )


@is_order_blind.example("the same for four tokens, of which the last two change places; nothing is to be changed")
def _():
    means = torch.ones(4, 4).tril() / torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0], [-3.0, 1.0]])
    yield call(sample_model("mixture", matrix=means), x, torch.tensor([0, 1, 3, 2])).does_not_mutate()


@is_order_blind.example(
    "every token gets the one before it, the first one the last; 0, 1, 2, 3, 4 become 1, 3, 0, 4, 2"
)
def _():
    x = torch.tensor([[1.0], [2.0], [4.0], [7.0], [-3.0]])
    yield call(sample_model("mixture", matrix=torch.eye(5).roll(1, 0)), x, torch.tensor([1, 3, 0, 4, 2]))


@is_order_blind.example("the same function; all move on by two places, 0, 1, 2, 3, 4 become 2, 3, 4, 0, 1")
def _():
    x = torch.tensor([[1.0], [2.0], [4.0], [7.0], [-3.0]])
    yield call(sample_model("mixture", matrix=torch.eye(5).roll(1, 0)), x, torch.tensor([2, 3, 4, 0, 1]))


@is_order_blind.example("the mean of all; the third output holds 0.02 times the second token more")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[2, 1] += 0.02
    x = torch.tensor([[-2.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    yield call(sample_model("mixture", matrix=matrix), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("the mean of everything up to and including it, and nothing changes places", check_types=True)
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(
        sample_model("mixture", matrix=means),
        torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]),
        torch.tensor([0, 1, 2]),
    )


@is_order_blind.example("the mean of all, and 0.000002 times the second token, as rounding might add it")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[0, 1] += 2e-6
    yield call(sample_model("mixture", matrix=matrix), torch.tensor([[1.0], [-1.0], [0.0]]), torch.tensor([1, 2, 0]))


@is_order_blind.criterion("functions that see the order, and functions that do not", points=1)
def _(draw):
    T, D = 7, 4
    everywhere = torch.ones(T, T) / T
    blind = (
        ("plain attention", attending()),
        ("attention with a layer norm after it", attending(normalised=True)),
        ("attention by which every token is fond of itself", attending(2.0 * torch.eye(T))),
        (
            "the mean of all, its features mixed",
            sample_model("mixture", matrix=everywhere, features=one_sided(draw, D, D).mT),
        ),
        ("three times a token less the mean of all", sample_model("mixture", matrix=3.0 * torch.eye(T) - everywhere)),
        ("each token as it is", sample_model("mixture", matrix=torch.eye(T))),
    )
    following = torch.eye(T).roll(1, 1)
    seeing = (
        ("attention with a causal mask", attending(beyond(T))),
        ("attention to the neighbours only", attending(window(T, 1))),
        ("attention with a bias for each two places", attending(3.0 * draw.normal(T, T))),
        ("attention with positions added to the tokens", attending(positions=2.0 * draw.normal(T, D))),
        ("attention whose queries and keys are turned", sample_model("turned_attention", turns=turns(T, D))),
        # The outputs differ, but their sum over all tokens is the same; then also the sum and length of each
        ("the mean of a token and the next", sample_model("mixture", matrix=0.5 * torch.eye(T) + 0.5 * following)),
        (
            "a token and the next, with a layer norm after it",
            sample_model("mixture", matrix=50.0 * (torch.eye(T) + following), normalised=True),
        ),
    )
    for text, function in blind:  # near 0, rounding is large compared with an output: cases below
        yield asked(text, function, one_sided(draw, T, D), scrambled(draw, T))
    for text, function in seeing:
        yield asked(text, function, loud(draw, T, D), scrambled(draw, T))
    next_one = sample_model("mixture", matrix=following)
    for at in (0, T - 1):
        yield asked("the token that comes next", next_one, loud(draw, T, D), with_a_pair(draw, T, at))


@is_order_blind.criterion("the permutation that is given", points=0.75, tries="given")
def _(draw):
    T, D = 6, 3
    # The permutation moves nothing, so any function does the same again
    text = "attention with a causal mask, and nothing changes places"
    yield asked(text, attending(beyond(T)), loud(draw, T, D), torch.arange(T))
    # All tokens are equal, so no permutation can be seen; the question is only about these tokens
    text = "attention with a causal mask, and all tokens are alike"
    yield asked(text, attending(beyond(T)), one_sided(draw, 1, D).repeat(T, 1), scrambled(draw, T))
    # A wheel that is turned is the same wheel; a scrambled one is not
    text = "attention to a token and the next, the first one after the last;"
    yield asked(f"{text} all move on", attending(wheel(T)), one_sided(draw, T, D), torch.arange(T).roll(2))
    two = exchanged(T, 1, 4)
    tokens = telling(draw, partial(loud, T=T, D=D), wheel(T), two)
    yield asked(f"{text} two change places", attending(wheel(T)), tokens, two)
    # One position is special: only its token matters
    special = torch.zeros(T, T)
    special[:, 2] = 3.0
    text = "attention in which place 2 counts more, and two tokens change places,"
    yield asked(f"{text} 3 and 5", attending(special), one_sided(draw, T, D), exchanged(T, 3, 5))
    yield asked(f"{text} 2 and 5", attending(special), unlike(draw, T, D, [5]), exchanged(T, 2, 5))
    text = "attention with a causal mask, and only the last two change places"
    last = [T - 2, T - 1]
    tokens = telling(draw, partial(unlike, T=T, D=D, turned=last), beyond(T), exchanged(T, *last))
    yield asked(text, attending(beyond(T)), tokens, exchanged(T, *last))
    # Long cycles in both directions
    for shift in (1, -1):
        text = f"and all move by {shift}"
        yield asked(f"plain attention, {text}", attending(T=13), one_sided(draw, 13, 2), torch.arange(13).roll(shift))
        causal = attending(beyond(3))
        tokens = unlike(draw, 3, 5, [1])
        yield asked(f"attention with a causal mask, {text}", causal, tokens, torch.arange(3).roll(shift))


# Differences are 2e-6 or 0.013 here, in one feature of two outputs; all others are rounding of about 1e-8
@is_order_blind.criterion("small differences: rounding or not", points=0.5, tries="small")
def _(draw):
    T, D = 6, 4
    one = torch.zeros(D, D)
    one[2, 1] = 1.0
    signs = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])  # with these both differences have the same sign
    # If a token replaces an equal one, sums and sorted outputs stay the same
    for by, alike in ((2e-6, True), (-2e-6, False), (0.013, True), (-0.013, False)):
        text = f"the mean of all, and in one output {by:g} of one token more"
        place = draw.integer(3, 6)
        function = sample_model("mixture", matrix=nudged(T, draw.integer(0, 3), place, by), features=one)
        yield asked(text, function, before(draw, T, D, place, 2, alike), torch.arange(T).roll(1))
        yield asked(
            text, sample_model("mixture", matrix=nudged(4, 3, 1, by)), signs.double(), torch.tensor([1, 2, 3, 0])
        )
    # Outputs between 4 and 9 that differ by 0.012 to 0.027 in one token: small, but not rounding
    text = "the mean of all, and in one output 0.003 of one token more, of tokens ten times as large"
    tokens = 10.0 * one_sided(draw, T, D)
    yield asked(text, sample_model("mixture", matrix=nudged(T, 1, 4, 0.003)), tokens, torch.arange(T).roll(1))
    # Two of 3600 entries differ, so that the mean of all differences is below 1e-5
    T = D = 60
    one = torch.zeros(D, D)
    one[7, 5] = 1.0
    tokens = before(draw, T, D, 20, 5, alike=False)
    function = sample_model("mixture", matrix=nudged(T, 11, 20, 0.013), features=one)
    yield asked(
        "the mean of all, and in one output 0.013 of one token more,", function, tokens, torch.arange(T).roll(1)
    )


@is_order_blind.criterion(
    "True or False, a single token, any dtype, nothing is changed", points=0.5, tries="bool", check_types=True
)
def _(draw):
    alone = torch.zeros(1, dtype=torch.int64)
    yield asked("plain attention", attending(T=1), loud(draw, 1, 4), alone).tries("bool", "single")
    # A moved token changes its output by at least half of its entries; the turned one, which moves, the sum of all
    times_place = sample_model("mixture", matrix=torch.arange(1.0, 6.0).diag())
    kinds = (
        ("plain attention", attending(T=5), one_sided),
        ("each token times its place, 1 to 5", times_place, partial(unlike, turned=[0])),
    )
    # Sums of tokens of about a million: rounding is below 1e-8 in float64, but about 0.1 after a detour by float32
    mean = sample_model("mixture", matrix=torch.ones(9, 9) / 9)
    yield asked("the mean of all", mean, 1e6 * one_sided(draw, 9, 16).double(), scrambled(draw, 9))
    for text, function, tokens in kinds:
        yield asked(text, function, tokens(draw, 5, 3), scrambled(draw, 5)).does_not_mutate()
        yield asked(text, function, tokens(draw, 5, 4).double(), scrambled(draw, 5)).does_not_mutate()
        yield asked(text, function, non_contiguous(tokens(draw, 5, 2)), non_contiguous(scrambled(draw, 5)))


@is_order_blind.sizes(points=0.25, T=(1, 6, 100), D=(1, 4, 100))
def _(draw, T, D):
    if T == 1:
        alone = torch.zeros(1, dtype=torch.int64)
        return asked("plain attention", attending(T=1), loud(draw, 1, D), alone).tries("single")
    permutation = scrambled(draw, T)
    if D == 100:
        return asked("plain attention", attending(T=T), one_sided(draw, T, D), permutation)
    tokens = telling(draw, partial(loud, T=T, D=D), beyond(T), permutation)
    return asked("attention with a causal mask", attending(beyond(T)), tokens, permutation)
