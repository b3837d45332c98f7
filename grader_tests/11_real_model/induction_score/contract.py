"""`induction_score`: a head's attention to the token after the last equal one."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ..common import INDUCTION

induction_score = exercise(
    "induction_score",
    see=INDUCTION,
    hints=(
        "Take T = 6 and a period of 3: A B C A B C. Which queries have seen their token before? For each "
        "of them, at which "
        "position was the token *after* that one?",
        "Query t has seen its token at t − period, if that is not before the text. The token after it is at "
        "t − period + 1. So the weights are on one diagonal of the map, except at its beginning.",
        "Check the period first. Then either two index tensors, `weights[..., t, t - period + 1]` with "
        "`t = torch.arange(period, T)`, or `weights.diagonal(…, dim1=-2, dim2=-1)` without its first "
        "entry; then a mean "
        "over the last dimension.",
    ),
)


@induction_score.oracle
def induction_score_oracle(weights, period):
    length = weights.shape[-1]
    if not 1 <= period < length:
        raise ValueError(f"period is {period}, and must be from 1 to {length - 1}")
    rows = [weights[..., t, t - period + 1] for t in range(period, length)]
    return torch.stack(rows).mean(0)


def maps(draw, *shape, dtype=torch.float32):
    return draw.distribution(*shape, dtype=dtype)


def hard(draw):
    """A map of nine tokens where three of five queries attend as for a period of 4."""
    found = torch.eye(9).roll(-3, 1)
    found[4 + draw.permutation(5)[:2]] = torch.eye(9)[0]
    return found


SIX = torch.tensor(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.3, 0.5, 0.0, 0.0, 0.0],
        [0.1, 0.9, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.2, 0.6, 0.0, 0.0, 0.0],
        [0.1, 0.2, 0.1, 0.3, 0.1, 0.2],
    ]
)
induction_score.example("six tokens, period 3", call(SIX, 3), check_types=True)
induction_score.example(
    "two heads of three tokens, period 1", call(torch.stack([torch.eye(3), torch.eye(3).flip(1)]), 1)
)
induction_score.example("two texts of six tokens, with gradients", call(torch.stack([SIX, SIX.mT]), 2).with_gradients())
induction_score.example("a period of 6 in six tokens", call(SIX, 6).raises("period", "weights"))


@induction_score.criterion("the mean over the queries that have one", points=1)
def _(draw):
    for length, period in ((8, 3), (6, 1), (9, 5), (7, 6), (12, 4), (2, 1)):
        yield call(maps(draw, length, length), period)
    yield call(hard(draw), 4)


@induction_score.criterion("any leading dimensions", points=0.5)
def _(draw):
    yield call(maps(draw, 3, 7, 7), 2)
    yield call(maps(draw, 2, 4, 6, 6), period=3)
    yield call(maps(draw, 3, 2, 4, 9, 9), 4)
    yield call(maps(draw, 1, 5, 1, 5, 5), 2)


@induction_score.criterion("ValueError unless 1 <= period < T", points=0.5)
def _(draw):
    for length, period in ((5, 5), (6, 9), (4, 0), (7, -2)):
        yield call(maps(draw, 3, length, length), period).raises("period", "weights")
    yield call(maps(draw, 3, 5, 5), 1).does_not_raise()
    yield call(maps(draw, 3, 5, 5), 4).does_not_raise()
    yield call(maps(draw, 9, 3, 3), 2).does_not_raise()


@induction_score.criterion("gradients", points=0.5)
def _(draw):
    yield call(maps(draw, 8, 8), 3).with_gradients()
    yield call(maps(draw, 2, 3, 6, 6), 2).with_gradients()


@induction_score.criterion("float64, any layout and device, weights left alone", points=0.5, check_types=True)
def _(draw):
    yield call(maps(draw, 2, 7, 7, dtype=torch.float64), 3).tolerance(1e-12)  # a mean of few numbers is this exact
    yield call(non_contiguous(maps(draw, 3, 6, 6)), 2)
    yield call(maps(draw, 2, 6, 6), 4).does_not_mutate()
    yield call(maps(draw, 2, 6, 6), 2).device_only()
