"""`log_softmax`: the logarithm of softmax, without taking it of a rounded weight."""

import torch

from grading.judge.exercise import SUBJECT, Script, call, exercise, method, non_contiguous

from ...shared import INF
from ..common import NOT_ALLOWED, changes_nothing, levels, with_gaps

log_softmax = exercise(
    "log_softmax",
    points=5,
    see="Exercise 2: `log_softmax(x, dim=-1)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "Take the formula of softmax and apply the logarithm *on paper*, before a computer rounds "
        "anything. What is the logarithm of a fraction? What is the logarithm of an exponential?",
        "Nothing that was exponentiated may meet a logarithm, but the sum, which is never less than 1 "
        "once the largest score is 0. So: shift each list by its maximum, keep the shifted scores, and "
        "subtract from them the logarithm of one sum.",
        "The shape of the code: `shifted = x - <largest along dim, kept>`, then `return shifted - "
        "<logarithm of the sum along dim, kept, of the exponentials of shifted>`.",
    ),
)


@log_softmax.oracle
def log_softmax_oracle(x, dim=-1):
    return torch.log_softmax(x, dim)


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
log_softmax.example("float64 in, float64 out", call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64)))
log_softmax.example("gradients flow back", call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, -120.0]])).with_gradients())


@log_softmax.criterion("the logarithms of the weights", points=1)
def _(draw):
    yield call(draw.normal(7, scale=2.0))
    yield call(draw.normal(4, 6, scale=2.0))
    yield call(draw.normal(2, 3, 5))
    yield call(draw.uniform(5, low=-6.0, high=-1.0)).described("five negative scores")
    yield call(torch.full((3, 5), draw.number(-2.0, 2.0))).described("rows of equal scores")
    yield call(draw.normal(2, 300))
    yield call(torch.full((2, 300), draw.number(-2.0, 2.0))).described("300 equal scores")
    yield call(draw.normal(4, 1)).described("lists of one score each")
    yield call(non_contiguous(draw.normal(4, 5)))
    yield call(non_contiguous(draw.normal(2, 4, 3)))


@log_softmax.criterion("along any dimension", points=1)
def _(draw):
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
    yield call(non_contiguous(draw.normal(4, 6)), dim=0)
    yield call(draw.normal(4, 3) + levels(20.0, -20.0, 0.0).T, dim=0)


@log_softmax.criterion("scores and gaps of any size", points=1)
def _(draw):
    yield call(400.0 + draw.normal(5))
    yield call(draw.normal(3, 5) - 400.0)
    yield call(draw.normal(4, 5) + levels(400.0, -400.0, 0.0, 200.0))
    gaps = torch.tensor([[0.0, -120.0, -90.0, -20.0], [3.0, 2.0, -300.0, -1e4]])
    yield call(gaps + draw.uniform(2, 4))
    yield call(draw.normal(3, 5, scale=1e4))
    yield call(draw.normal(3, 5, scale=1e30))
    yield call(torch.tensor([[1.5e38, -1.5e38, 1.0], [-3e38, -2e38, -3e38]]))
    # A long list, whose largest score may stand anywhere
    wide = draw.normal(3, 40)
    wide[torch.arange(3), draw.integers(0, 40, 3)] += 200.0
    yield call(wide)
    # Half a unit in the last place of 10,000 is 0.0005
    yield call(torch.tensor([[1e4, 1e4, 9990.0, 1e4], [-1e4, -9991.0, -1e4, -9990.0]])).within(2e-3, 1e-5)
    yield call(2000.0 + draw.normal(2, 5, scale=100.0, dtype=torch.float64))


@log_softmax.criterion("scores of minus infinity", points=0.5)
def _(draw):
    yield call(with_gaps(draw.normal(4, 6), (2,), (0, 5), (0, 1, 2, 4, 5), (1, 3)))
    yield call(with_gaps(draw.normal(3, 4) + levels(-40.0, -20.0, 30.0), (1,), (0,), (3,)))


@log_softmax.criterion("float64 stays float64", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5, dtype=torch.float64))
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64))


@log_softmax.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).with_gradients()
    yield call(draw.normal(2, 4, 3, dtype=torch.float64), dim=1).with_gradients()
    yield call(draw.normal(2, 5) + levels(300.0, -300.0)).with_gradients()
    far = torch.tensor([[0.0, -120.0, 1.0, -300.0], [-150.0, 0.5, 0.0, -22.0]])
    yield call(far + draw.uniform(2, 4)).with_gradients()
    # A result of -inf has no slope, so only those of the finite ones are asked for
    x = with_gaps(draw.normal(3, 6), (2,), (5,), (1, 4))
    s = Script(x=x, hidden=x.isneginf())
    out = s.call(SUBJECT, s.x)
    s.call(method(out, "masked_fill"), s.hidden, 0.0)
    yield s.case().with_gradients().described("the gradient beside scores of -inf")


@log_softmax.criterion("arguments stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).unchanged()
    yield call(with_gaps(draw.normal(2, 5) + levels(300.0, 0.0), (2,), (4,))).holding(changes_nothing)
