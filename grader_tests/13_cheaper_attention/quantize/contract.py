"""`quantize`: numbers as int8 with one scale for each row, column or whatever `dim` says."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

quantize = exercise(
    "quantize",
    result_names=("codes", "scale"),
    see="Exercise: `quantize(x, dim)`",
    hints=(
        "The largest number of a row is 12.7. Which number must each be divided by, so that this one becomes 127? "
        "What happens in a row of zeros?",
        "The scale is the largest absolute value over `dim`, divided by 127, and keeps its dimensions. Divide, round, "
        "convert. A scale of 0 must not divide: put another number in its place for the division only.",
        "`amax` takes one dimension or a tuple of them, and `keepdim=True` keeps them with size 1. Detach `x`, or work "
        "under `torch.no_grad()`. `masked_fill` or `torch.where` makes a divisor without zeros. Return the scale. "
        "`torch.round` comes before `.to(torch.int8)`.",
    ),
)


@quantize.oracle
def quantize_oracle(x, dim):
    x = x.detach()
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    largest = torch.maximum(x.amax(dims, keepdim=True), -x.amin(dims, keepdim=True))
    scale = largest / 127
    codes = torch.where(scale > 0, x / scale, 0.0)  # no gradient is asked for, so NaN may be left out here
    down = codes.floor()
    rest = codes - down
    up = (rest > 0.5) | ((rest == 0.5) & (down % 2 == 1))
    return (down + up).to(torch.int8), scale


ROWS = torch.tensor([[127.0, -63.0, 1.4, 0.3], [-2.54, 1.0, 0.4, 0.0]])

quantize.example("two rows, each with its own scale", call(ROWS, -1), check_types=True)
quantize.example("the same by columns", call(ROWS, 0))
quantize.example("a row of zeros", call(torch.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, -6.0]]), 1))
quantize.example("one scale for all of it", call(ROWS, (0, 1)))


def clear(draw, *shape, dims, scale=1.0, dtype=torch.float32):
    """Random numbers whose quotients are not near a half, so that rounding cannot decide."""
    return settled(draw.normal(*shape, scale=scale, dtype=dtype), dims)


def settled(x, dims=-1):
    """The same numbers, those near a half in units of the scale a little larger."""
    largest = x.double().abs().amax(dims, keepdim=True)
    quotients = x.double() * 127 / largest
    near = (quotients - quotients.floor() - 0.5).abs() < 0.01
    return torch.where(near, (x.double() + 0.1 * largest / 127), x.double()).to(x.dtype)


@quantize.criterion("codes and scale of single rows", points=0.5)
def _(draw):
    yield call(clear(draw, 12, dims=0), 0)
    yield call(clear(draw, 9, dims=0, scale=1e4), -1)
    yield call(clear(draw, 3, 7, dims=-1), -1)
    yield call(clear(draw, 3, 7, dims=-1, scale=1e-4), dim=1)
    yield call(torch.tensor([[draw.number(1.0, 9.0)], [-draw.number(1.0, 9.0)]]), 1).label("rows of one number")
    yield after((clear(draw, 3, 5, dims=-1), -1), (clear(draw, 3, 5, dims=-1), -1))


@quantize.criterion("along any dimension, or several of them", points=1)
def _(draw):
    yield call(clear(draw, 3, 7, dims=0), 0)
    yield call(clear(draw, 2, 5, 4, dims=-2), -2)
    yield call(clear(draw, 2, 3, 6, 5, dims=1), 1)
    yield call(clear(draw, 2, 5, 4, dims=(0, 1)), (0, 1))
    yield call(clear(draw, 2, 5, 4, dims=(0, 2)), (-1, 0))
    yield call(clear(draw, 2, 3, 6, 5, dims=(1, 3)), dim=(1, -1))
    yield call(clear(draw, 3, 4, dims=(0, 1)), (0, 1))
    yield call(clear(draw, 3, 4, 2, dims=(2,)), (2,))
    # Rows of very different sizes: one scale for all of them would leave nothing of the small ones
    x = clear(draw, 4, 6, dims=-1) * torch.tensor([1e-3, 1.0, 30.0, 1e3])[:, None]
    yield call(x, -1).label("rows of different sizes")


@quantize.criterion("the largest absolute value, above or below 0", points=0.5)
def _(draw):
    x = clear(draw, 4, 6, dims=-1)
    x[:, 2] = -x.abs().amax(-1) * 1.5
    x[1] *= -1
    yield call(settled(x), -1).label("the largest number is negative in all rows but one")
    yield call(torch.cat([x, -x], -1), -1).label("as large above 0 as below")
    yield call(-clear(draw, 9, dims=0).abs(), 0).label("negative numbers alone")
    x = clear(draw, 8, dims=0)
    yield call(settled(x.abs() + 5 * x.abs().amax()), 0).label("positive numbers, far from 0")


@quantize.criterion("0 where all numbers are 0", points=0.5)
def _(draw):
    x = clear(draw, 3, 7, dims=-1)
    x[1] = 0.0
    yield call(x, -1).label("a row of zeros")
    x = clear(draw, 2, 4, 3, dims=(0, 1))
    x[:, :, 2] = 0.0
    yield call(x, (0, 1)).label("a column of zeros")
    yield call(torch.zeros(4), 0)
    yield call(torch.zeros(2, 3), (0, 1))
    # Not zeros, only small
    yield call(clear(draw, 3, 5, dims=-1, scale=1e-15), -1).label("numbers of about 1e-15")


@quantize.criterion(
    "int8 and the dtype of x; no gradient; any layout and device, x left alone", points=0.5, check_types=True
)
def _(draw):
    yield call(clear(draw, 3, 7, dims=-1), -1)
    yield call(clear(draw, 3, 7, dims=0, dtype=torch.float64), 0)
    yield (
        call(clear(draw, 2, 5, 4, dims=(0, 1)), (0, 1))
        .with_gradients()
        .label("x requires a gradient; the scale has none")
    )
    yield call(non_contiguous(clear(draw, 3, 7, dims=-1)), -1).does_not_mutate()
    x = clear(draw, 3, 7, dims=-1)
    x[1] = 0.0
    yield call(x, -1).does_not_mutate().label("a row of zeros, x left alone")
    yield call(clear(draw, 3, 7, dims=-1), -1).device_only()
