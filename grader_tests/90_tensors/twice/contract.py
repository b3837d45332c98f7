"""`twice`: every number of a tensor, doubled. It introduces how exercises work."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after

twice = exercise(
    "twice",
    see="Exercise: `twice(x)`",
    hints=(
        "What is twice 3? And what is `x * 3`, if `x` is a whole tensor?",
        "An operation between a tensor and a number works on every entry. `return` hands the result back.",
        "Outline of the code: `return <x, times a number>`.",
    ),
)


@twice.oracle
def twice_oracle(x):
    return x + x


twice.example("three numbers", call(torch.tensor([1.0, -2.0, 0.5])))
twice.example("one number", call(torch.tensor(3.0)))
twice.example("two rows", call(torch.tensor([[1.0, 5.0], [0.0, -4.0]])).does_not_mutate())
twice.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5])),
    call(torch.tensor([0.1], dtype=torch.float64)),
    check_types=True,
)
twice.example("gradients flow back", call(torch.tensor([1.0, -2.0])).with_gradients())


@twice.criterion("every number, doubled", points=1.75)
def _(draw):
    yield call(draw.normal(5))
    yield call(draw.normal(1)).tries("doubled", "shape")
    yield call(draw.normal(300) * 1e4)
    yield after([draw.normal(4)], [draw.normal(4)])


@twice.criterion("of any shape", points=0.5, tries="shape")
def _(draw):
    yield call(draw.normal(3, 5))
    yield call(draw.normal(2, 4, 3))
    yield call(draw.normal(3, 1, 2))
    yield call(draw.normal(1)[0])


@twice.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(6)).with_gradients()
    yield call(draw.normal(2, 3)).with_gradients()


@twice.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(4))
    yield call(draw.normal(4)).device_only()
    # Doubling is exact: float64's usual tolerance would not show a detour by float32
    yield call(draw.normal(3, 2, dtype=torch.float64)).tolerance(1e-12)


@twice.criterion("x itself stays as it was", points=0.5)
def _(draw):
    yield call(draw.normal(5)).does_not_mutate()
    yield call(non_contiguous(draw.normal(4, 3))).does_not_mutate()


@twice.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100))
def _(draw, rows, width):
    return call(draw.normal(rows, width))
