"""`centre`: each row minus its own mean."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

centre = exercise(
    "centre",
    see="Exercise: `centre(x)`",
    hints=(
        "What is left of the rows (1, 3) and (10, 30) without their means? What is the shape of the means?",
        "`x.mean(dim=-1)` loses the last dimension. `keepdim=True` keeps it, with size 1: it stretches along the rows.",
        "Outline of the code: `return x - <the mean along the last dimension, kept>`.",
    ),
)


@centre.oracle
def centre_oracle(x):
    return x - (x.sum(-1) / x.shape[-1]).unsqueeze(-1)


centre.example("two rows", call(torch.tensor([[1.0, 3.0], [10.0, 30.0]])))
centre.example("three rows of three", call(torch.tensor([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0], [-4.0, 4.0, 9.0]])))
centre.example("one row", call(torch.tensor([4.0, 8.0, 9.0])).does_not_mutate())
centre.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([[0.5, 2.0]])),
    call(torch.tensor([[0.1, 0.2]], dtype=torch.float64)),
    check_types=True,
)
centre.example("gradients flow back", call(torch.tensor([[1.0, -2.0, 4.0]])).with_gradients())


@centre.criterion("every row less its own mean", points=1.75)
def _(draw):
    yield call(draw.normal(3, 5) + torch.tensor([[10.0], [0.0], [-10.0]]))
    yield call(draw.normal(5, 2) + 3.0)
    yield call(draw.normal(4, 4) + torch.tensor([[1.0], [2.0], [3.0], [4.0]])).label("four rows of four numbers")
    yield call(draw.normal(2, 1)).label("rows of one number")
    yield after([draw.normal(3, 4)], [draw.normal(3, 4)])


@centre.criterion("one row, or any number of leading dimensions", points=1, tries="leading")
def _(draw):
    yield call(draw.normal(7) + 1.0)
    yield call(draw.normal(2, 3, 5) + 1.0)
    yield call(draw.normal(1, 4) + 1.0)
    yield call(draw.normal(3, 1, 5) - 1.0)
    yield call(draw.normal(2, 4, 3, 6) - 1.0)


@centre.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(3, 5)).with_gradients()
    yield call(draw.normal(2, 3, 4)).with_gradients().tries("leading")
    yield call(draw.normal(6)).with_gradients().tries("leading")


@centre.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(3, 4))
    yield call(draw.normal(3, 4)).device_only()
    yield call(draw.normal(3, 5, dtype=torch.float64) + 100.0)


@centre.criterion("x itself stays as it was", points=0.5)
def _(draw):
    yield call(draw.normal(3, 5)).does_not_mutate()
    yield call(non_contiguous(draw.normal(4, 3))).does_not_mutate()


@centre.sizes(points=0.25, rows=(1, 3, 100), D=(1, 5, 100))
def _(draw, rows, D):
    return call(draw.normal(rows, D) + 1.0)
