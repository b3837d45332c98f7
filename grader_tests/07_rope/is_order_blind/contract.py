"""`is_order_blind`: whether permuting the inputs of a function only permutes its outputs."""

import torch

from grading.judge.exercise import call, exercise, non_contiguous, specimen

from ...shared import BUILT_IN
from .cases import balanced, beyond, exchanged, loud, nudged, scrambled, turns, wheel, window

BLIND = "1. Attention does not see the order"

is_order_blind = exercise(
    "is_order_blind",
    points=3,
    see=BLIND,
    forbidden=BUILT_IN,
    hints=(
        "Let token 0 move to place 2. Where do you find its output if the function is order-blind, and where else do "
        "you have to look for it to compare the two?",
        "Two runs of the same function: one on the permuted input, one on the input as it is. Permute the *output* of "
        "the second in the same way as the input of the first, and compare entry by entry, with room for rounding.",
        "`moved = attention(x[…])`; `kept = attention(x)[…]`; the greatest `abs()` of their difference, compared with "
        "something between 1e-5 and 1e-2; `bool(…)` makes a plain answer of it.",
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
    yield call(specimen("mixture", matrix=torch.full((3, 3), 1 / 3)), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets half of itself and the mean of all; 0, 1, 2 become 1, 2, 0")
def _():
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]])
    yield call(specimen("mixture", matrix=torch.full((3, 3), 1 / 3) + torch.eye(3) / 2), x, torch.tensor([1, 2, 0]))


@is_order_blind.example("every token gets the mean of what came up to it")
def _():
    means = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    yield call(
        specimen("mixture", matrix=means), torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]), torch.tensor([1, 2, 0])
    )


@is_order_blind.example("the same for four tokens, of which the last two change places; nothing is to be changed")
def _():
    means = torch.ones(4, 4).tril() / torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    x = torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0], [-3.0, 1.0]])
    yield call(specimen("mixture", matrix=means), x, torch.tensor([0, 1, 3, 2])).unchanged()


@is_order_blind.example(
    "every token gets the one before it, the first one the last; 0, 1, 2, 3, 4 become 1, 3, 0, 4, 2"
)
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
    yield call(
        specimen("mixture", matrix=means), torch.tensor([[1.0, 0.0], [2.0, 4.0], [6.0, 2.0]]), torch.tensor([0, 1, 2])
    )


@is_order_blind.example("the mean of all, and 0.000002 times the second token, as rounding might add it")
def _():
    matrix = torch.full((3, 3), 1 / 3)
    matrix[0, 1] += 2e-6
    yield call(specimen("mixture", matrix=matrix), torch.tensor([[1.0], [-1.0], [0.0]]), torch.tensor([1, 2, 0]))


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
        yield call(
            specimen("biased_attention", bias=torch.zeros(13, 13)), loud(draw, 13, 2), torch.arange(13).roll(shift)
        )
        yield call(specimen("biased_attention", bias=beyond(3)), loud(draw, 3, 5), torch.arange(3).roll(shift))


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
    yield call(
        specimen("biased_attention", bias=torch.zeros(1, 1)), loud(draw, 1, 4), torch.zeros(1, dtype=torch.int64)
    )
    for bias in (torch.zeros(5, 5), beyond(5)):
        function = specimen("biased_attention", bias=bias)
        yield call(function, loud(draw, 5, 3), scrambled(draw, 5)).unchanged()
        yield call(function, loud(draw, 5, 4, torch.float64), scrambled(draw, 5)).unchanged()
        yield call(function, non_contiguous(loud(draw, 5, 2)), non_contiguous(scrambled(draw, 5)))
