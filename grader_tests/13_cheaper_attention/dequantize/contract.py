"""`dequantize`, a step: from codes to numbers."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

dequantize = step(
    "dequantize",
    see="Exercise: back to numbers",
    hints=(
        "Which number does the code 3 stand for, if the scale is 0.5?",
        "int8 holds nothing above 127. In which dtype must the product be?",
        "The shape of the code: `return codes.to(<…>) * <…>`.",
    ),
)


@dequantize.oracle
def dequantize_oracle(codes, scale):
    return codes.type_as(scale).mul(scale)


def drawn(draw, *shape):
    return draw.integers(-127, 128, *shape).to(torch.int8)


dequantize.example(
    "the worked example", call(torch.tensor([[2, -4], [100, 1]]).to(torch.int8), torch.tensor([[0.5], [0.1]]))
)
dequantize.example("float64", call(torch.tensor([3]).to(torch.int8), torch.tensor([0.25]).double()), check_types=True)


@dequantize.criterion("codes times scale", check_types=True)
def _(draw):
    yield call(drawn(draw, 4, 3), draw.uniform(4, 1, low=0.5, high=2.0))
    yield call(drawn(draw, 4, 3), draw.uniform(1, 3, low=0.5, high=2.0))
    yield call(drawn(draw, 2, 5, 3), draw.uniform(2, 1, 1, low=3.0, high=9.0, dtype=torch.float64))
    yield call(non_contiguous(drawn(draw, 5, 3)), draw.uniform(5, 1, dtype=torch.float64))
    yield call(drawn(draw, 2, 3), torch.tensor([[0.0], [1.5]]))
