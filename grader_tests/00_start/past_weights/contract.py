"""`past_weights`: the softmax of each row of scores, over the columns up to the diagonal."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

past_weights = exercise(
    "past_weights",
    see="Exercise: `past_weights(scores)`",
    hints=(
        "Which columns may row 0 use, and which row 1? Mark the cells that are left over on paper: where are they?",
        "e to the power of −∞ is 0. If every score to the right of the diagonal is −∞ *before* the softmax, its weight "
        "is 0 and the "
        "rest of the row sums to 1.",
        "`later = <ones of this shape, only those to the right of the diagonal, as bool>`, then "
        "`scores.masked_fill(later, <what>)`, then softmax along each row.",
    ),
)


@past_weights.oracle
def past_weights_oracle(scores):
    past = torch.ones_like(scores).tril()
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * past
    return powers / powers.sum(-1, keepdim=True)


past_weights.example("the worked example", call(torch.tensor([[0.0, 9.0], [4.0, 4.0]])).does_not_mutate())
past_weights.example(
    "three words, and the gradients",
    call(torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 5.0], [-1.0, 0.0, 1.0]])).with_gradients(),
)
past_weights.example(
    "later weights are exactly 0", call(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).exact_zeros().tries("zeros")
)
past_weights.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(call(torch.tensor([[0.5, 1.0], [0.1, 0.3]], dtype=dtype)) for dtype in (torch.float32, torch.float64)),
    check_types=True,
)


def has_zeros(scores):
    """Whether scores on both sides of the diagonal are 0."""
    zero = scores == 0
    return bool(zero.triu(1).any() and zero.tril(-1).any())


@past_weights.criterion("weights up to the diagonal", points=2)
def _(draw):
    yield call(draw.normal(6, 6))
    yield call(draw.normal(3, 3, scale=3.0))
    yield call(draw.normal(2, 2))
    yield call(draw.uniform(5, 5, low=-20.0, high=20.0)).label("scores from -20 to 20")
    yield call(-draw.uniform(4, 4, low=5.0, high=15.0)).label("all scores below 0")
    yield call(draw.uniform(4, 4, low=5.0, high=15.0)).label("all scores above 0")
    yield call(draw.until(lambda: draw.normal(4, 4) * draw.chance(0.5, 4, 4), has_zeros)).label("many scores are 0")
    yield after(*([draw.normal(4, 4)] for _ in "ab"))


@past_weights.criterion("exactly 0 to the right of the diagonal", points=0.5, tries="zeros")
def _(draw):
    yield call(draw.normal(5, 5)).exact_zeros()
    yield call(draw.uniform(6, 6, low=-20.0, high=20.0)).exact_zeros().label("scores from -20 to 20")


@past_weights.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5, 5)).with_gradients()
    yield call(draw.normal(2, 2)).with_gradients()


@past_weights.criterion("float64 stays float64, float32 float32, on any device", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(4, 4))
    yield call(draw.normal(4, 4)).device_only()
    yield call(draw.normal(5, 5, dtype=torch.float64))
    yield call(draw.normal(6, 6, dtype=torch.float64)).tolerance(1e-8, 1e-8)


@past_weights.criterion("scores, contiguous or not, stay as they were", points=0.25)
def _(draw):
    yield call(draw.normal(5, 5)).does_not_mutate()
    yield call(non_contiguous(draw.normal(5, 5))).does_not_mutate()


@past_weights.sizes(points=0.5, T=(1, 6, 40), spread=(0.0, 2.0, 20.0))
def _(draw, T, spread):
    return call(draw.uniform(T, T, low=-1.0) * spread)
