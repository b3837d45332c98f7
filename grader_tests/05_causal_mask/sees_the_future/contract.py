"""`sees_the_future`: whether any output of a function depends on a later input."""

import torch

from grading.judge.exercise import call, exercise, non_contiguous, specimen

from ...shared import BUILT_IN
from .cases import INF, distant, future, leaking, past

sees_the_future = exercise(
    "sees_the_future",
    points=4,
    forbidden=BUILT_IN,
    see="Exercise 5: `sees_the_future`",
    hints=(
        "What would you have to change, and what would you have to look at, to convict a function in which place 2 "
        "sees place 3 and nothing else is wrong?",
        "For every later place in turn: change it, and see whether *any* output before it has moved by more than "
        "rounding. Or let autograd do all at once: the Jacobian has an entry for each part of each output and each "
        "part of each input.",
        "`torch.autograd.functional.jacobian(attention, x)` has the shape (T, D, T, D). Take its magnitude, take the "
        "greatest over both D, and you hold a (T, T) table of who moves whom; is there anything above the diagonal? "
        "`bool` makes a plain answer of it.",
    ),
)


@sees_the_future.oracle
def sees_the_future_oracle(attention, x):
    with torch.no_grad():
        before = attention(x)
        for place in range(1, len(x)):
            for part in range(x.shape[1]):
                changed = x.clone()
                changed[place, part] += 1.0
                if (attention(changed) - before)[:place].abs().max() > 5e-5:
                    return True
    return False


sees_the_future.example(
    "adds the next token, times 0.001",
    call(specimen("mixture", matrix=torch.eye(3) + 0.001 * torch.eye(3).roll(1, 1).triu()), torch.eye(3)[:, :2]),
)
sees_the_future.example(
    "adds the token before",
    call(specimen("mixture", matrix=torch.eye(3) + torch.eye(3).roll(-1, 1).tril()), torch.eye(3)[:, :2]),
)


@sees_the_future.example("only the first output sees the second token")
def _():
    matrix = torch.eye(4)
    matrix[0, 1] = -1.0
    yield call(specimen("mixture", matrix=matrix), torch.ones(4, 2))


sees_the_future.example("a single token", call(specimen("mixture", matrix=torch.full((1, 1), 3.0)), torch.ones(1, 2)))


@sees_the_future.criterion("right and wrong masks", points=1)
def _(draw):
    T, D = 6, 4
    x = draw.normal(T, D)
    yield call(specimen("biased_attention", bias=future(T)), x)
    yield call(specimen("biased_attention", bias=future(T, ahead=1)), x)
    yield call(specimen("biased_attention", bias=future(T), positions=draw.normal(T, D)), x)
    yield call(specimen("biased_attention", bias=torch.zeros(T, T), gate=torch.ones(T, T).tril()), x)  # after softmax
    yield call(specimen("biased_attention", bias=torch.zeros(T, T)), x)  # no mask
    yield call(specimen("biased_attention", bias=future(T, outside=-5.0)), x)  # a finite fill
    yield call(specimen("biased_attention", bias=future(T).masked_fill(distant(T), -INF)), x)
    for letter in "BCFGH":
        yield call(specimen("suspect", letter=letter), draw.normal(7, 3))


@sees_the_future.criterion("a leak at one place only", points=1)
def _(draw):
    T = draw.integer(5, 8)
    middle = draw.integer(1, T - 2)
    for i, j in ((0, 1), (T - 2, T - 1), (0, T - 1), (middle, middle + 1), (0, T - 2)):
        yield call(specimen("mixture", matrix=leaking(draw, T, i, j, 0.5)), draw.normal(T, 3))
        yield call(specimen("mixture", matrix=past(draw, T)), draw.normal(T, 3))
    # In a longer text than one would try by hand, and in the shortest
    yield call(specimen("mixture", matrix=leaking(draw, 13, 10, 11, -0.5)), draw.normal(13, 2))
    yield call(specimen("mixture", matrix=leaking(draw, 2, 0, 1, -0.5)), draw.normal(2, 5))
    bias = future(9)
    bias[6, 8] = 4.0
    yield call(specimen("biased_attention", bias=bias), draw.normal(9, 4))


@sees_the_future.criterion("a leak in some features only, or one that cancels", points=1)
def _(draw):
    T, D = 5, 4
    one = torch.zeros(D, D)
    one[2, 1] = -1.0  # feature 2 of an input moves feature 1 of an output
    against = torch.eye(D) - torch.ones(D, D) / D + torch.outer(torch.ones(D), torch.tensor([1.0, -1.0, 1.0, -1.0]))
    for features in (one, against):  # the rows of `against` sum to 0, so the parts of an output do
        yield call(specimen("mixture", matrix=leaking(draw, T, 1, 3, 0.7), features=features), draw.normal(T, D))
        yield call(specimen("mixture", matrix=past(draw, T), features=features), draw.normal(T, D))
    # Two outputs that move against each other
    matrix = past(draw, T)
    matrix[1, 3], matrix[2, 3] = 0.4, -0.4
    yield call(specimen("mixture", matrix=matrix), draw.normal(T, D))
    # After a layer norm neither the sum of an output nor its length tells anything
    for ahead in (0, 1):
        bias = future(T, ahead)
        yield call(specimen("biased_attention", bias=bias, normalised=True), draw.normal(T, D))


@sees_the_future.criterion("weak leaks, strong pasts", points=0.5)
def _(draw):
    for size in (2e-4, -2e-4):
        T = draw.integer(6, 9)
        yield call(specimen("mixture", matrix=leaking(draw, T, 1, 3, size)), draw.normal(T, 5))
        yield call(specimen("mixture", matrix=leaking(draw, 5, 2, 4, size)), draw.normal(5, 4, dtype=torch.float64))
    yield call(specimen("mixture", matrix=50.0 * past(draw, 6)), draw.normal(6, 3))
    yield call(specimen("mixture", matrix=past(draw, 6), normalised=True), draw.normal(6, 5, dtype=torch.float64))
    yield call(specimen("mixture", matrix=draw.normal(7, 7).tril(-2)), draw.normal(7, 3))
    yield call(specimen("mixture", matrix=torch.zeros(4, 4)), draw.normal(4, 3))


@sees_the_future.criterion("x is left alone, and one token has no future", points=0.5)
def _(draw):
    yield call(specimen("mixture", matrix=leaking(draw, 5, 2, 3, 0.5)), draw.normal(5, 3)).unchanged()
    yield call(specimen("biased_attention", bias=future(6)), draw.normal(6, 2)).unchanged()
    yield call(specimen("mixture", matrix=draw.normal(1, 1)), draw.normal(1, 4)).unchanged()
    yield call(specimen("biased_attention", bias=torch.zeros(1, 1)), non_contiguous(draw.normal(1, 3)))
    yield call(specimen("biased_attention", bias=future(5, ahead=1)), non_contiguous(draw.normal(5, 3))).unchanged()
