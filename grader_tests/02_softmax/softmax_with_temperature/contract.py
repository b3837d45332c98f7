"""`softmax_with_temperature`: softmax of scores divided by a temperature above 0."""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous

from ...shared import INF
from ...shared.repeating import after
from ..common import NOT_ALLOWED, levels, with_gaps

softmax_with_temperature = exercise(
    "softmax_with_temperature",
    see="Exercise: `softmax_with_temperature(x, temperature, dim=-1)`",
    forbidden=NOT_ALLOWED,
    hints=(
        "Does the temperature divide the scores or the weights? Which of the two still sums to 1 afterwards?",
        "Divide all scores by the temperature, and give the quotients to the softmax that you have. It subtracts the "
        "largest quotient, so you need not.",
        "The shape of the code: `return softmax(<the scores divided>, dim)`.",
    ),
)


@softmax_with_temperature.oracle
def softmax_with_temperature_oracle(x, temperature, dim=-1):
    return torch.softmax(x / temperature, dim)


softmax_with_temperature.example("the one on paper", call(torch.tensor([0.0, math.log(3.0)]), 0.5))
softmax_with_temperature.example(
    "hot: nearly equal shares", call(torch.tensor([-1.0, 2.0, 0.5, 3.0]), temperature=10.0)
)
softmax_with_temperature.example(
    "a temperature of 1 is plain softmax", call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), 1.0)
)
softmax_with_temperature.example(
    "along the first dimension", call(torch.tensor([[2.0, 0.0, -1.0, 1.0], [0.5, -3.0, 0.5, 2.0]]), 2.0, dim=0)
)
softmax_with_temperature.example("very cold", call(torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.5, -INF]]), 0.001))
softmax_with_temperature.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, 0.2, -0.3]), 0.5),
    call(torch.tensor([0.1, 0.2, -0.4], dtype=torch.float64), 0.5),
    check_types=True,
)
softmax_with_temperature.example(
    "gradients flow back", call(torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]), 2.0).with_gradients()
)
softmax_with_temperature.example("a whole number", call(torch.tensor([0.0, 2 * math.log(3.0)]), 2))


@softmax_with_temperature.criterion("divides the scores", points=1.5)
def _(draw):
    yield call(draw.normal(6), 0.5)
    yield call(draw.normal(5, scale=2.0), 2.5)
    yield call(draw.normal(4), temperature=draw.number(0.2, 0.9))
    yield call(draw.normal(4), temperature=draw.number(1.5, 9.0))
    yield call(draw.normal(3), 1.0)
    yield call(draw.normal(4), 3).tries("whole").label("a whole number as temperature")
    yield after((draw.normal(4), 2.0), (draw.normal(4), 2.0))
    s = Script(x=draw.normal(4))
    s.call(EXERCISE, s.x, 1.0)  # dividing in place by 1 has no effect
    s.call(EXERCISE, s.x, 0.5)
    yield s.case().label("the same scores at a second temperature")


@softmax_with_temperature.criterion("many lists, along any dimension", tries="dim", points=0.25)
def _(draw):
    yield call(draw.normal(3, 5, scale=2.0), 2.5)
    yield call(draw.normal(2, 3, 4), temperature=draw.number(0.2, 0.9))
    yield call(draw.normal(3, 5, 4), 0.7, dim=1)
    yield call(draw.normal(3, 5), 2.0, 0)
    yield call(draw.normal(2, 3, 4, 5), 0.4, -3)
    yield call(draw.normal(4, 2, 5, 3), 1.6, -2)
    yield call(draw.normal(3, 1, 4), 1.7, 1)
    yield call(draw.normal(1, 4), 0.7, 1)
    yield call(draw.normal(5, 1), 2.0, 0)
    yield call(draw.normal(3, 5) + levels(300.0, -300.0, 0.0), 0.75).tries("dim", "extremes")
    yield call(draw.normal(4, 3) + levels(10.0, -10.0, 0.0).T, temperature=0.5, dim=0)


@softmax_with_temperature.criterion("hot, cold, and scores of any size", tries="extremes", points=0.5)
def _(draw):
    yield call(draw.normal(5, scale=3.0), 1e-3)
    for row in ([2.0, 2.0, -1.0, 1.0], [-0.5, -1.0, -0.5, -2.0]):
        yield call(torch.tensor(row), 1e-6)
    # The logarithm of a weight has a rounding error, which grows a thousandfold when divided by 0.001
    yield call(torch.tensor([1.0, 2.0, 5.0]).log() * 1e-3, 1e-3).tolerance(5e-4, 1e-5)
    yield call(torch.tensor([2.0, 5.0, 1.0]).log() * 2e-4, 2e-4).tolerance(5e-3, 1e-5)
    yield call(draw.normal(5), 1e6)
    # The weights at temperature 1 are 0 here, but at this temperature they are not
    yield call(draw.normal(5) + torch.tensor([0.0, -300.0, 100.0, -150.0, 0.0]), 100.0)
    yield call(draw.normal(5) + 300.0, 0.75)
    # One list with a weight near 1, and one with equal weights: their logarithms differ by a factor of a thousand
    yield call(torch.tensor([[9.0, 0.0, 1.0], [1.0, 1.0, 1.0]]), 1e-3)
    yield call(draw.normal(5) - 300.0, 0.75)
    yield call(draw.normal(5, scale=1e30), 1e4)
    yield call(draw.normal(5, scale=1e30), 1e-5)
    for row in with_gaps(draw.normal(3, 5), (2,), (0, 4), (0, 1, 2, 4)):
        for temperature in (0.3, 4.0):
            yield call(row, temperature).tries("infinite")
            yield call(row, temperature).check_with("exact_zeros").tries("infinite")
    yield call(torch.tensor([-INF, -1e30, -2e30]), 1e4).tries("infinite", "extremes")


@softmax_with_temperature.criterion(
    "float64 stays float64, float32 float32, on any device", points=0.5, check_types=True
)
def _(draw):
    yield call(draw.normal(4), 2.0)
    yield call(draw.normal(4), 2.0).device_only()
    # Powers of 2, so that a temperature as a float32 tensor is exact
    yield call(draw.normal(5, dtype=torch.float64), 0.5)
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64), 2.0).tries("extremes")


@softmax_with_temperature.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5), 0.5).with_gradients()
    yield call(draw.normal(4), 3.0).with_gradients()
    yield call(with_gaps(draw.normal(1, 5), (2,))[0], 0.5).with_gradients().tries("infinite")


@softmax_with_temperature.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(5), 0.5).does_not_mutate()
    yield call(draw.normal(3, 5), 0.5).does_not_mutate()
    yield call(with_gaps(draw.normal(1, 5), (2,))[0], 2.0).check_with("arguments_unchanged").tries("infinite")
    yield call(non_contiguous(draw.normal(6)), 0.7).does_not_mutate()
    yield call(non_contiguous(draw.normal(2, 4, 3)), 1.3).does_not_mutate()


@softmax_with_temperature.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100), temperature=(0.05, 2.0, 50.0))
def _(draw, rows, width, temperature):
    # Never so far apart that a slightly other temperature shows with some draws and not with others
    return call(temperature * draw.uniform(rows, width, low=0.0, high=0.4), temperature)
