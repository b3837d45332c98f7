"""`as_layer`: a matrix (in, out) as an `nn.Linear` without bias, which stores it as (out, in)."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, helper, ref, step

as_layer = step(
    "as_layer",
    see="Exercise: a matrix as a layer",
    hints=(
        "How many numbers go into the layer, and how many come out? Read both off the shape of the matrix.",
        "`nn.Linear(n_in, n_out, bias=False)` makes a layer with random numbers. Its `weight` has the shape (out, in): "
        "what has to be written into it?",
        "Make the layer, then `with torch.no_grad(): layer.weight.copy_(…)` with the transposed matrix, and return the "
        "layer.",
    ),
)


@as_layer.oracle
def as_layer_oracle(matrix):
    rows, columns = matrix.shape
    layer = nn.Linear(rows, columns, bias=False, dtype=matrix.dtype, device=matrix.device)
    layer.weight = nn.Parameter(matrix.detach().mT.clone())
    return layer


def applied(matrix, x):
    """The layer of `matrix`, called with `x`."""
    s = Script(matrix=matrix, x=x)
    s.call(s.call(EXERCISE, s.matrix, name="layer"), s.x, name="result")
    return s.case(ref("result"))


def parameters(matrix):
    """The names and shapes of the layer's parameters."""
    s = Script(matrix=matrix)
    s.call(helper("state_of"), s.call(EXERCISE, s.matrix, name="layer"), name="state")
    return s.case(ref("state"))


@as_layer.example("the worked example")
def _():
    yield applied(torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), torch.tensor([[1.0, 1.0]])).label(
        "as_layer(matrix)(x), matrix = [[1, 0, 2], [0, 3, 0]], x = [[1, 1]]"
    )


@as_layer.example("a square matrix")
def _():
    yield applied(torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])).label(
        "as_layer(matrix)(x), matrix = [[1, 2], [0, 1]], x = [[1, 0], [0, 1]]"
    )


@as_layer.example("its parameters: a weight, and no bias")
def _():
    yield parameters(torch.tensor([[1.0, 2.0, 3.0]])).label("as_layer(matrix).state_dict(), matrix = [[1, 2, 3]]")


@as_layer.criterion("it computes x @ matrix")
def _(draw):
    for shape, rows in (((4, 3), (5,)), ((3, 3), (2, 4)), ((2, 5), (1,)), ((1, 4), (3,)), ((4, 1), (2,))):
        yield applied(draw.normal(*shape), draw.normal(*rows, shape[0])).label(
            f"as_layer(matrix)(x), matrix {shape}, x {(*rows, shape[0])}"
        )


@as_layer.criterion("one weight (out, in), of the dtype of the matrix")
def _(draw):
    yield parameters(draw.normal(4, 3)).label("the state dict of the layer of a matrix (4, 3)")
    yield parameters(draw.normal(2, 5, dtype=torch.float64)).label(
        "the state dict of the layer of a matrix (2, 5) of float64"
    )


@as_layer.criterion("the layer learns, the matrix stays")
def _(draw):
    s = Script(matrix=draw.normal(3, 2))
    layer = s.call(EXERCISE, s.matrix, name="layer")
    s.call(helper("trainable"), layer, name="trainable")
    yield s.case(ref("trainable")).label("which parameters of the layer are trained")
    yield applied(draw.normal(3, 4), draw.normal(2, 3)).does_not_mutate().label("as_layer(matrix)(x), and its matrix")
