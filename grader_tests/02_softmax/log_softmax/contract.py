"""`log_softmax`: the logarithm of softmax, not computed from rounded weights."""

from functools import partial

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous

from ...shared import INF
from ...shared.repeating import after
from ..common import NOT_ALLOWED, levels, with_gaps

log_softmax = exercise(
    "log_softmax",
    see="Exercise: `log_softmax(x, dim=-1)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "Apply the logarithm to the formula of softmax *on paper*, before anything is rounded. What is the logarithm "
        "of a fraction, and of an exponential?",
        "The only logarithm that you need is that of the sum, which is at least 1 once the largest score is 0. Shift "
        "each list by its maximum, and subtract the logarithm of one sum from the shifted scores.",
        "The shape of the code: `shifted = x - <largest along dim, kept>`, then `return shifted - "
        "<logarithm of the sum along dim, kept, of the exponentials of shifted>`.",
    ),
)


@log_softmax.oracle
def log_softmax_oracle(x, dim=-1):
    # The largest score's own exponential is 1: log(1 + the others), which is exact for tiny others
    top = x.argmax(dim, keepdim=True)
    shifted = x - x.gather(dim, top)
    others = shifted.exp().scatter(dim, top, 0.0).sum(dim, keepdim=True)
    return shifted - torch.log1p(others)


log_softmax.example("the one on paper", call(torch.tensor([1.0, 2.0, 5.0]).log()))
log_softmax.example(
    "two rows, along the last dimension", call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]))
)
log_softmax.example(
    "the same two rows, along the first dimension",
    call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), dim=0),
)
log_softmax.example("120 behind the best", call(torch.tensor([0.0, -120.0])))
log_softmax.example(
    "one row far above zero, one far below", call(torch.tensor([[400.0, 401.0, 402.0], [-402.0, -402.0, -401.0]]))
)
log_softmax.example("a score of -inf", call(torch.tensor([0.0, -INF, 1.0])))
log_softmax.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, 0.2, -0.3])),
    call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64)),
    check_types=True,
)
log_softmax.example("gradients flow back", call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -120.0]])).with_gradients())


@log_softmax.criterion("the logarithms of the weights", points=1)
def _(draw):
    # Weights are bounded, so that a constant added before the logarithm shows with every draw or with none
    yield call(draw.uniform(7, low=-3.0, high=3.0))
    yield call(draw.normal(5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).label("five negative scores")
    yield call(torch.full((5,), draw.number(-2.0, 2.0))).label("equal scores")
    yield call(draw.uniform(300, low=-1.5, high=1.0))
    yield call(torch.full((300,), draw.number(-2.0, 2.0))).label("300 equal scores")
    yield call(torch.tensor([draw.number(1.0, 2.0)])).label("a list of one score")
    yield after([draw.normal(4)], [draw.normal(4)])


@log_softmax.criterion("many lists, along any dimension", tries="dim", points=0.5)
def _(draw):
    # No weight is so small that a constant of 1e-6 added to it would show with only some draws
    scores = partial(draw.uniform, low=-2.0, high=2.0)
    yield call(scores(4, 6))
    yield call(scores(2, 3, 5))
    yield call(scores(4, 1)).label("lists of one score each")
    yield call(scores(3, 5, 4), dim=1)
    yield call(scores(3, 5), dim=0)
    yield call(scores(3, 5), -2)
    yield call(scores(2, 3, 4, 5), dim=-4)
    yield call(scores(4, 2, 5, 3), dim=-2)
    yield call(scores(2, 3, 4, 5), 2)
    yield call(scores(2, 3, 4), dim=-1)
    yield call(scores(6), 0)
    yield call(scores(3, 1, 4), dim=1)
    yield call(scores(2, 5, 1), dim=1)
    # Each list has its own level, so that the maximum of all, or of the rows, does not help
    yield call(scores(4, 5) + levels(400.0, -400.0, 0.0, 200.0)).tries("dim", "gaps")
    yield call(scores(4, 3) + levels(20.0, -20.0, 0.0).T, dim=0)


@log_softmax.criterion("scores and gaps of any size", tries="gaps", points=1.25)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(5) - 400.0)
    for gaps in ([0.0, -120.0, -90.0, -20.0], [3.0, 2.0, -300.0, -1e4]):
        yield call(torch.tensor(gaps) + draw.uniform(4))
    yield call(draw.normal(5, scale=1e4))
    yield call(draw.normal(5, scale=1e30))
    for edge in ([1.5e38, -1.5e38, 1.0], [-3e38, -2e38, -3e38]):
        yield call(torch.tensor(edge))
    # A long list whose largest score may be at any position
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield from map(call, wide)
    # Half a unit in the last place of 10,000 is 0.0005
    for large in ([1e4, 1e4, 9990.0, 1e4], [-1e4, -9991.0, -1e4, -9990.0]):
        yield call(torch.tensor(large)).tolerance(2e-3, 1e-5)
    # Differences of scores of any size are exact, but a logarithm added to a score first is rounded at its size
    yield call(torch.tensor([1e8, 1e8])).label("two scores of 1e8")
    yield call(torch.tensor([1e17, 1e17])).label("two scores of 1e17")  # float64 has no digits to spare
    yield call(torch.tensor([-1e12, -1e12, -1e12])).label("three scores of -1e12")


@log_softmax.criterion("scores of minus infinity", tries="infinite", points=0.5)
def _(draw):
    x = draw.normal(4, 6)
    x[2, 3] = draw.number(1.0, 2.0)  # the only finite score of its row below, where the result is only rounding
    yield from map(call, with_gaps(x, (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3)))
    for row in with_gaps(draw.normal(3, 4) + levels(-40.0, -20.0, 30.0), (1,), (0,), (3,)):
        yield call(row).tries("infinite", "gaps")
    # Lower than usual substitutes for minus infinity
    yield call(torch.tensor([-1e10, -2e10, -INF])).tries("infinite", "gaps")


@log_softmax.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(4))
    yield call(draw.normal(4)).device_only()
    yield call(draw.normal(5, dtype=torch.float64)).label("a vector in float64")
    yield call(draw.normal(3, 5, dtype=torch.float64))
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64)).tries("gaps")
    yield call(2000.0 + draw.normal(2, 5, scale=100.0, dtype=torch.float64)).tries("gaps")


@log_softmax.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5)).with_gradients()
    yield call(300.0 + draw.normal(5)).with_gradients().tries("gaps")
    yield call(draw.normal(2, 3, 4), dim=1).with_gradients().tries("dim")
    for far in ([0.0, -120.0, 1.0, -300.0], [-150.0, 0.5, 0.0, -22.0]):
        yield call(torch.tensor(far) + draw.uniform(4)).with_gradients().tries("gaps")
    # A result of -inf has no gradient, so only those of the finite ones are compared
    x = with_gaps(draw.normal(1, 6), (0, 1, 4))[0]
    s = Script(x=x, hidden=x.isneginf())
    out = s.call(EXERCISE, s.x)
    s.call(method(out, "masked_fill"), s.hidden, 0.0)
    yield s.case().with_gradients().tries("infinite").label("the gradient beside scores of -inf")


@log_softmax.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    def even(*shape):  # no weight is so small that a constant before the logarithm shows
        return draw.uniform(*shape, low=-0.8, high=0.8)

    yield call(even(5)).does_not_mutate()
    yield call(even(3, 5)).does_not_mutate()
    gaps = with_gaps(draw.normal(1, 5) + 300.0, (2,))[0]
    yield call(gaps).check_with("arguments_unchanged").tries("infinite", "gaps")
    yield call(non_contiguous(even(6))).does_not_mutate()
    yield call(non_contiguous(even(2, 4, 3))).does_not_mutate()
    yield call(non_contiguous(even(4, 6)), dim=0).does_not_mutate().tries("dim")


@log_softmax.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100))
def _(draw, rows, width):
    return call(draw.normal(rows, width))
