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
        "Does the temperature divide the scores or the weights? What are `nan > 0` and `nan <= 0`?",
        "Check the temperature first, in a way that `nan` fails: `not temperature > 0` is true for `nan`, but "
        "`temperature <= 0` is false. Then divide the scores and call the softmax that you have.",
        "The shape of the code: `if not <temperature is above 0>: raise ValueError(f'temperature is "
        "{temperature}; …')`, then `return softmax(<the scores divided>, dim)`.",
    ),
)


@softmax_with_temperature.oracle
def softmax_with_temperature_oracle(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature is {temperature}; it must be greater than 0")
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
softmax_with_temperature.example("0 is refused", call(torch.tensor([1.0, 2.0]), 0.0).raises("temperature"))
softmax_with_temperature.example(
    "a negative temperature is refused", call(torch.tensor([1.0, 2.0]), -2.0).raises("temperature")
)
softmax_with_temperature.example("nan is refused", call(torch.tensor([1.0, 2.0]), math.nan).raises("temperature"))


@softmax_with_temperature.criterion("divides the scores", points=0.5)
def _(draw):
    yield call(draw.normal(6), 0.5)
    yield call(draw.normal(5, scale=2.0), 2.5)
    yield call(draw.normal(4), temperature=draw.number(0.2, 0.9))
    yield call(draw.normal(4), temperature=draw.number(1.5, 9.0))
    yield call(draw.normal(3), 1.0)
    yield call(draw.normal(4), 3).label("a whole number as temperature")
    yield after((draw.normal(4), 2.0), (draw.normal(4), 2.0))
    s = Script(x=draw.normal(4))
    s.call(EXERCISE, s.x, 1.0)  # dividing in place by 1 has no effect
    s.call(EXERCISE, s.x, 0.5)
    yield s.case().label("the same scores at a second temperature")


@softmax_with_temperature.criterion("many lists, along any dimension", points=0.5)
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
    yield call(draw.normal(3, 5) + levels(300.0, -300.0, 0.0), 0.75)
    yield call(draw.normal(4, 3) + levels(10.0, -10.0, 0.0).T, temperature=0.5, dim=0)


@softmax_with_temperature.criterion("hot, cold, and scores of any size", points=0.5)
def _(draw):
    yield call(draw.normal(5, scale=3.0), 1e-3)
    for row in ([2.0, 2.0, -1.0, 1.0], [-0.5, -1.0, -0.5, -2.0]):
        yield call(torch.tensor(row), 1e-6)
    # The logarithm of a weight has a rounding error, which grows a thousandfold when divided by 0.001
    yield call(torch.tensor([1.0, 2.0, 5.0]).log() * 1e-3, 1e-3).tolerance(5e-4, 1e-5)
    yield call(torch.tensor([2.0, 5.0, 1.0]).log() * 2e-4, 2e-4).tolerance(5e-3, 1e-5)
    yield call(draw.normal(5), 1e6)
    yield call(draw.normal(4), math.inf).label("a temperature without bound")
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
            yield call(row, temperature)
            yield call(row, temperature).check_with("exact_zeros")
    yield call(torch.tensor([-INF, -1e30, -2e30]), 1e4)


@softmax_with_temperature.criterion("refuses 0 and below", points=0.5)
def _(draw):
    for wrong in (0.0, -0.5, -2.0, 0, -3, -INF):
        yield call(draw.normal(4), wrong).raises("temperature")
    yield call(draw.normal(4), 0.5).does_not_raise()


@softmax_with_temperature.criterion("refuses nan", points=0.5)
def _(draw):
    yield call(draw.normal(4), math.nan).raises("temperature")
    yield call(draw.normal(4), 0.5).does_not_raise()


@softmax_with_temperature.criterion(
    "float64 stays float64, float32 float32, on any device", points=0.5, check_types=True
)
def _(draw):
    yield call(draw.normal(4), 2.0)
    yield call(draw.normal(4), 2.0).device_only()
    # Powers of 2, so that a temperature as a float32 tensor is exact
    yield call(draw.normal(5, dtype=torch.float64), 0.5)
    yield call(100.0 + draw.normal(4, 6, scale=0.5, dtype=torch.float64), 2.0)


@softmax_with_temperature.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(5), 0.5).with_gradients()
    yield call(draw.normal(4), 3.0).with_gradients()
    yield call(with_gaps(draw.normal(1, 5), (2,))[0], 0.5).with_gradients()


@softmax_with_temperature.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(5), 0.5).does_not_mutate()
    yield call(draw.normal(3, 5), 0.5).does_not_mutate()
    yield call(with_gaps(draw.normal(1, 5), (2,))[0], 2.0).check_with("arguments_unchanged")
    yield call(non_contiguous(draw.normal(6)), 0.7).does_not_mutate()
    yield call(non_contiguous(draw.normal(2, 4, 3)), 1.3).does_not_mutate()
