"""`lengths`, an exercise without points: the length of every vector along the last dimension, kept."""

import torch

from grading.exercises.exercise import call, step

lengths = step(
    "lengths",
    see="Exercise: the length of every vector",
    hints=(
        "What are the squares of 3 and 4, what is their sum, and what its root?",
        "Square the whole tensor, add along the last dimension only, and keep that dimension with size 1.",
        "The shape of the code: `squares = <x times x>`, then `return <the root of> squares.sum(<where>, <kept>)`.",
    ),
)


@lengths.oracle
def lengths_oracle(x):
    return torch.linalg.vector_norm(x, dim=-1, keepdim=True)


lengths.example("the worked example", call(torch.tensor([[3.0, 4.0], [5.0, 12.0]])))
lengths.example("one vector", call(torch.tensor([2.0, -1.0, 2.0])))
lengths.example(
    "a batch of two", call(torch.tensor([[[1.0, -2.0, 2.0], [0.0, 3.0, 4.0]], [[6.0, 0.0, 8.0], [1, 1, 1]]]))
)


@lengths.criterion("every length, along the last dimension")
def _(draw):
    yield call(draw.normal(3, 5))
    yield call(draw.normal(4, 4))
    yield call(draw.normal(2, 3, 4))
    yield call(draw.normal(6))
    yield call(draw.normal(3, 2)).with_gradients()
