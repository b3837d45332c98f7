"""`entropy`: the mean surprise of weights, in nats; 0 · log 0 is 0."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import NOT_ALLOWED
from .cases import along, with_zeros

entropy = exercise(
    "entropy",
    see="Exercise: `entropy(p, dim=-1)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "What is the surprise of one weight, and how much does it count in the average? What does your formula give "
        "for a weight of 0, and what should it give?",
        "Multiply each weight by minus its logarithm, and sum along `dim`. A weight of 0 should never reach the "
        "logarithm: replace it first. Any number above 0 will do, because its logarithm is multiplied by 0.",
        "The shape of the code: `safe = torch.where(<p is above 0>, p, <something harmless>)`, then "
        "`return -(p * <logarithm of safe>).sum(<along dim>)`.",
    ),
)


@entropy.oracle
def entropy_oracle(p, dim=-1):
    # The derivative of its terms is infinite at 0, where no gradient is judged
    return torch.special.entr(p).sum(dim)


entropy.example("the one on paper", call(torch.tensor([0.5, 0.25, 0.25])))
entropy.example("two words, equal shares, and two weights of 0", call(torch.tensor([0.5, 0.5, 0.0, 0.0])))
entropy.example(
    "three lists at once", call(torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]]))
)
entropy.example("along the first dimension", call(torch.tensor([[0.1, 0.5, 1.0], [0.9, 0.5, 0.0]]), dim=0))
entropy.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.25, 0.75])),
    call(torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)),
    check_types=True,
)
entropy.example("gradients flow back", call(torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])).with_gradients())


@entropy.criterion("the average surprise", points=1)
def _(draw):
    yield call(draw.distribution(7))
    yield call(draw.distribution(4))
    yield call(torch.full((4,), 0.25)).label("equal shares")
    yield call(torch.tensor([0.97, 0.02, 0.01]))
    yield call(torch.tensor([0.01, 0.98, 0.01]))
    yield call(draw.distribution(400))
    yield call(torch.ones(1)).label("a list of one weight")
    yield after([draw.distribution(5)], [draw.distribution(5)])


@entropy.criterion("many lists, along any dimension", tries="dim", points=0.5)
def _(draw):
    yield call(draw.distribution(4, 6))
    yield call(draw.distribution(2, 3, 5))
    yield call(torch.ones(3, 1)).label("lists of one weight each")
    yield call(along(1, draw.distribution(3, 4, 5)), dim=1)
    yield call(along(0, draw.distribution(3, 5)), dim=0)
    yield call(along(-2, draw.distribution(3, 5)), -2)
    yield call(along(-4, draw.distribution(2, 3, 4, 5)), dim=-4)
    yield call(along(-2, draw.distribution(4, 2, 5, 3)), dim=-2)
    yield call(along(2, draw.distribution(2, 3, 4, 5)), 2)
    yield call(draw.distribution(3, 1, 4), dim=-1)
    yield call(along(1, draw.distribution(1, 3, 4)), dim=1)
    yield call(draw.distribution(6), 0)


@entropy.criterion("weights of 0", tries="zeros", points=0.5)
def _(draw):
    yield call(with_zeros(draw.distribution(6), (1, 4)))
    yield from map(call, with_zeros(draw.distribution(4, 5), (0,), (), (1, 2, 4), (0, 1, 2, 4)))
    yield call(torch.tensor([0.0, 1.0, 0.0]))


@entropy.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.distribution(4))
    yield call(draw.distribution(4)).device_only()
    yield call(draw.distribution(3, 5, dtype=torch.float64))
    yield call(with_zeros(draw.distribution(5, dtype=torch.float64), (1, 4))).tries("zeros")
    even = torch.full((2, 7), 1 / 7, dtype=torch.float64)
    tilt = draw.uniform(2, 7, low=-1e-5, high=1e-5, dtype=torch.float64)
    yield call(even + tilt - tilt.mean(-1, keepdim=True))
    # Digits that float32 rounds away: near log 2 its units are 6e-8, so of so many results some are off by over 3e-8.
    # A guard such as `+ 1e-8` inside the logarithm adds 1e-8 for each of the two weights, which is not a wrong value.
    yield call(draw.distribution(100, 2, dtype=torch.float64)).tolerance(0.0, 4.5e-8)


@entropy.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.distribution(6)).with_gradients()
    yield call(draw.distribution(4)).with_gradients()


@entropy.criterion("gradients at tiny weights, and beside weights of 0", tries="tiny", points=0.25)
def _(draw):
    # A guard below all of these, like 1e-12, costs nothing
    tiny = draw.uniform(3, 4, low=4e-11, high=6e-11)
    p = torch.cat([tiny, draw.distribution(3, 3)], dim=-1)[:, [4, 0, 1, 5, 2, 6, 3]]
    for row in p:
        yield call(row).with_gradients()
    for row in ([1e-6, 0.4, 0.6 - 1e-6], [1e-4, 1e-5, 0.99989]):
        yield call(torch.tensor(row)).with_gradients()
    # At a weight of 0 itself there is no derivative, and nothing is judged
    for row in with_zeros(draw.distribution(3, 5), (0,), (2,), (1, 4)):
        yield call(row).with_gradients().tries("zeros")
    yield call(torch.tensor([0.0, 1.0, 0.0])).with_gradients().tries("zeros")


@entropy.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.distribution(7)).does_not_mutate()  # another length than in the case before
    yield call(draw.distribution(3, 5)).does_not_mutate()
    yield call(with_zeros(draw.distribution(5), (1, 4))).check_with("arguments_unchanged").tries("zeros")
    yield call(non_contiguous(draw.distribution(6))).does_not_mutate()
    yield call(non_contiguous(draw.distribution(2, 4, 3))).does_not_mutate()


@entropy.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100))
def _(draw, rows, width):
    return call(draw.distribution(rows, width))
