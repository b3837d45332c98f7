"""`softmax`: shares of 1 along any dimension, for scores of any size and for −∞."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import INF
from ...shared.repeating import after
from ..common import NOT_ALLOWED, far_ahead, in_the_same_tensor, levels, with_gaps

softmax = exercise(
    "softmax",
    see="Exercise: `softmax(x, dim=-1)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "Your `exp_and_divide` is right for one list of small scores. Which of its steps goes wrong with "
        "`[1000, 1001, 1002]`, and what could you subtract first without changing any weight?",
        "Three steps: subtract the largest score of each list, exponentiate, divide by the sum of the list. Take both "
        "the largest score and the sum along `dim`, and keep that dimension, so that they line up with their list: "
        "`x.amax(dim, keepdim=True)`.",
        "The shape of the code: `exponentials = torch.exp(x - <largest along dim, kept>)`, then `return exponentials / "
        "<their sum along dim, kept>`. A score of -inf needs no line of its own.",
    ),
)


@softmax.oracle
def softmax_oracle(x, dim=-1):
    return torch.softmax(x, dim)


softmax.example("the one on paper", call(torch.tensor([1.0, 2.0, 5.0]).log()))
softmax.example(
    "two rows, along the last dimension", call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]))
)
softmax.example(
    "the same two rows, along the first dimension",
    call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), dim=0),
)


@softmax.example("the middle one of three dimensions")
def _():
    x = [[[1.0, 0.0], [2.0, -1.0], [0.0, 0.5]], [[0.0, 3.0], [-2.0, 1.0], [1.0, 1.0]]]
    yield call(torch.tensor(x), dim=1)


softmax.example(
    "one row far above zero, one far below", call(torch.tensor([[400.0, 401.0, 402.0], [-402.0, -402.0, -401.0]]))
)
softmax.example("a score of -inf", call(torch.tensor([0.0, -INF, 1.0])))
softmax.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, 0.2, -0.3])),
    call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64)),
    check_types=True,
)
softmax.example("gradients flow back", call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]])).with_gradients())


@softmax.criterion("positive weights that sum to 1", points=1.5)
def _(draw):
    yield call(draw.normal(7, scale=2.0))
    yield call(draw.normal(5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).label("five negative scores")
    yield call(torch.full((5,), draw.number(-2.0, 2.0))).label("equal scores")
    # Evenly spread: with one score far ahead, a constant in each exponential would show with only some draws
    yield call(draw.uniform(300, low=-1.5, high=1.0))
    yield call(torch.full((300,), draw.number(-2.0, 2.0))).label("300 equal scores")
    yield call(draw.normal(1)).label("a list of one score")
    yield after([draw.normal(4)], [draw.normal(4)])
    yield in_the_same_tensor(draw.normal(4))


@softmax.criterion("many lists, along any dimension", tries="dim", points=1.25)
def _(draw):
    yield call(draw.normal(4, 6, scale=2.0))
    yield call(draw.normal(2, 3, 5))
    yield call(draw.normal(4, 1)).label("lists of one score each")
    yield call(draw.normal(3, 5, 4), dim=1)
    yield call(draw.normal(3, 5), dim=0)
    yield call(draw.normal(3, 5), -2)
    yield call(draw.normal(2, 3, 4, 5), dim=-4)
    yield call(draw.normal(4, 2, 5, 3), dim=-2)
    yield call(draw.normal(2, 3, 4, 5), 2)
    yield call(draw.normal(2, 3, 4), dim=-1)
    yield call(draw.normal(6), 0)
    yield call(draw.normal(3, 1, 4), dim=1)
    yield call(draw.normal(2, 5, 1), dim=1)
    # Each list has its own level, so that the maximum of all, or of the rows, does not help
    yield call(draw.normal(4, 5) + levels(400.0, -400.0, 0.0, 200.0)).tries("dim", "size")
    yield call(draw.normal(4, 3) + levels(20.0, -20.0, 0.0).T, dim=0)


@softmax.criterion("scores of any size", tries="size", points=1.5)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(5) - 400.0)
    yield call(draw.normal(5) - 60.0)  # their exponentials are not yet 0; at twice as low they would be
    yield call(draw.normal(5, scale=1e4))
    yield call(draw.normal(5, scale=1e30))
    for edge in ([3e38, -3e38, 1.0], [-3e38, -2e38, -3e38]):
        yield call(torch.tensor(edge))
    # A long list whose largest score may be at any position
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield from map(call, wide)
    # Half a unit in the last place of 10,000 is 0.0005, and an exponent may be off by as much
    for large in ([1e4, 1e4, 0.0, -1e4], [-3e4, 7.0, -1e4, 7.0]):
        yield call(torch.tensor(large)).tolerance(2e-3, 1e-5)
    # Differences of scores of any size are exact, but a number added to a score first is rounded at its size
    yield call(torch.tensor([1e8, 1e8])).label("two scores of 1e8")
    yield call(torch.tensor([-1e12, -1e12, -3e12])).label("scores around -1e12, two of them equal")


@softmax.criterion("scores of minus infinity", tries="infinite", points=0.5)
def _(draw):
    for row in with_gaps(draw.normal(4, 6), (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3)):
        yield call(row)
        yield call(row).check_with("exact_zeros")
    for row in with_gaps(draw.normal(3, 4) + levels(-40.0, -20.0, 30.0), (1,), (0,), (3,)):
        yield call(row).tries("infinite", "size")
        yield call(row).check_with("exact_zeros").tries("infinite", "size")
    for row in ([-INF, -1e30, -2e30], [-1e37, -INF, -2e37], [-INF, 1e30, -INF]):
        yield call(torch.tensor(row)).tries("infinite", "size")


@softmax.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(4))
    yield call(draw.normal(4)).device_only()
    x = draw.normal(5, dtype=torch.float64)
    x[3] = x.max() - 6.0  # a constant shows beside such a small weight
    yield call(x).label("a vector in float64")
    yield call(draw.normal(3, 5, dtype=torch.float64))
    # The differences are below float32's precision for numbers around a hundred
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64)).tries("size")
    yield call(2000.0 + draw.normal(2, 5, dtype=torch.float64)).tries("size")


@softmax.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(7)).with_gradients()
    # If a score is far ahead, as in some draws, a hundred-thousandth added to the sum shows in a gradient
    yield call(draw.uniform(6, low=-1.5, high=1.5)).with_gradients()
    yield call(far_ahead(draw, 250)).with_gradients()


@softmax.criterion("gradients at large scores, along a dimension, and beside minus infinity", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).with_gradients()
    yield call(draw.normal(2, 4, 3), dim=1).with_gradients().tries("dim")
    yield call(draw.normal(2, 5) + levels(300.0, -300.0)).with_gradients().tries("dim", "size")
    # Columns so far apart that the exponential of their difference overflows in float64
    yield call(draw.normal(4, 3) + levels(900.0, -900.0, 0.0).T, dim=0).with_gradients().tries("dim", "size")
    # The exponential of a difference overflows, and as a divisor its gradient is inf times 0
    yield call(torch.tensor([[0.0, -120.0, 1.0, -300.0], [-0.5, 0.5, -90.0, 1.0]])).with_gradients().tries("size")
    x = with_gaps(draw.normal(3, 6), (2,), (5,), (0, 1))
    yield call(x).with_gradients().tries("infinite").label("the gradient beside scores of -inf")
    yield call(torch.stack([far_ahead(draw, 250), far_ahead(draw, 250)])).with_gradients()


@softmax.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(5)).does_not_mutate()
    yield call(draw.normal(3, 5)).does_not_mutate()
    gaps = with_gaps(draw.normal(1, 5) + 300.0, (2,))[0]
    yield call(gaps).check_with("arguments_unchanged").tries("infinite", "size")
    yield call(non_contiguous(draw.normal(6))).does_not_mutate()
    yield call(non_contiguous(draw.normal(2, 4, 3))).does_not_mutate()
    yield call(non_contiguous(draw.normal(4, 6)), dim=0).does_not_mutate().tries("dim")


@softmax.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100))
def _(draw, rows, width):
    return call(draw.normal(rows, width))
