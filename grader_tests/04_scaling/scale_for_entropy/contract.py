"""`scale_for_entropy`, an exercise without points: the scale that gives weights a wanted entropy."""

import math

import torch

from grading.exercises.exercise import call, step

scale_for_entropy = step(
    "scale_for_entropy",
    see="Exercise: `scale_for_entropy(scores, nats)` (extra)",
    hints=(
        "You try a scale, and the entropy of the weights is larger than `nats`. Is the right scale larger or smaller? "
        "How do you continue if you know one scale that is too small and one that is too large?",
        "Halve the interval between the two: try its middle, and keep the half that contains the answer. Some scores "
        "need a scale of a millionth and some of a million, so halve the interval of the *exponent*, from -40 to 40 "
        "for powers of 2. Each row has its own interval.",
        "The shape of the code: `low` and `high`, two tensors of shape `(...)`. Repeat sixty times: the middle, the "
        "entropy with `2 ** middle[..., None]` times the scores, and `torch.where` for both ends.",
    ),
)


@scale_for_entropy.oracle
def scale_for_entropy_oracle(scores, nats):
    spread = scores.std(-1)
    exact = (scores / spread[..., None]).double()
    low, high = torch.zeros(scores.shape[:-1]).double(), torch.full(scores.shape[:-1], 1e6).double()
    for _ in range(100):
        middle = (low + high) / 2
        weights = torch.softmax(middle[..., None] * exact, dim=-1)
        flat = torch.special.entr(weights).sum(-1) > nats
        low, high = torch.where(flat, middle, low), torch.where(flat, high, middle)
    return low.to(scores.dtype) / spread


def drawn(draw, *shape, dtype=torch.float32):
    """Scores in random order, no two of a row nearly equal."""
    numbers = 0.6 * torch.arange(shape[-1], dtype=dtype) + draw.uniform(*shape, high=0.3, dtype=dtype)
    return torch.stack([row[draw.permutation(shape[-1])] for row in numbers.flatten(0, -2)]).reshape(shape)


def wanted(draw, S, low=0.3, high=0.8):
    return draw.number(low, high) * math.log(S)


def to_a_thousandth(case):
    """Allow a relative error of a thousandth, the contract's own bound."""
    return case.tolerance(2e-3)


scale_for_entropy.example("two scores, ln 3 apart", to_a_thousandth(call(torch.tensor([0.0, math.log(3)]), 0.4)))
scale_for_entropy.example(
    "two rows, the second ten times as wide",
    to_a_thousandth(call(torch.tensor([[1.0, 2.0, 4.0], [10.0, 40.0, 20.0]]), 0.5)),
)
scale_for_entropy.example(
    "float64 stays float64",
    to_a_thousandth(call(torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64), 0.8)),
    check_types=True,
)


@scale_for_entropy.criterion("one row of scores")
def _(draw):
    for S in (3, 7, 20):
        yield to_a_thousandth(call(drawn(draw, 1, S)[0], wanted(draw, S)))
    yield to_a_thousandth(call(drawn(draw, 1, 8)[0] - 10.0, wanted(draw, 8, 0.05, 0.15)))
    yield to_a_thousandth(call(drawn(draw, 1, 5)[0], nats=wanted(draw, 5, 0.9, 0.95)))


@scale_for_entropy.criterion("each row its own scale")
def _(draw):
    sizes = torch.tensor([[0.5], [1.0], [3.0]])
    yield to_a_thousandth(call(sizes * drawn(draw, 5, 3, 5), wanted(draw, 5)))
    yield to_a_thousandth(call(torch.linspace(0.5, 3.0, 7)[:, None] * drawn(draw, 7, 6), wanted(draw, 6)))
    yield to_a_thousandth(call(drawn(draw, 4, 4), wanted(draw, 4)))
    yield to_a_thousandth(call(drawn(draw, 1, 1, 5), wanted(draw, 5)))


@scale_for_entropy.criterion("scores of any size")
def _(draw):
    for size in (1e-5, 1e-2, 1e2, 1e5):
        yield to_a_thousandth(call(size * drawn(draw, 1, 6)[0], wanted(draw, 6)))
    yield to_a_thousandth(call(torch.tensor([[1e-4], [1.0], [1e4]]) * drawn(draw, 3, 3), wanted(draw, 3)))


@scale_for_entropy.criterion("float32 stays float32, float64 float64", check_types=True)
def _(draw):
    yield to_a_thousandth(call(drawn(draw, 4, 4), wanted(draw, 4))).does_not_mutate()
    yield to_a_thousandth(call(drawn(draw, 4, 4, dtype=torch.float64), wanted(draw, 4)))
