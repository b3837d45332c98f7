"""`dot`: the sum of products of two vectors, which refuses shapes that differ."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import a_pair, changed_since

dot = exercise(
    "dot",
    see="Exercise: `dot(a, b)`",
    forbidden=(
        ".*dot",
        "inner",
        ".*matmul",
        ".*mm",
        "(add)?mv",
        "einsum",
        "((lazy)?bi|tri|lazy|mkldnn)?linear",
    ),
    hints=(
        "Take `[2, 0, -1]` and `[3, 7, 4]` and a pencil. What do you do with two entries at the same position? And "
        "with the three products? What should happen if one of the two is a matrix?",
        "`a * b` gives the products, and a tensor has a method that adds up all its entries. Check before that, since "
        "`a * b` stretches shapes that do not fit: how many dimensions does each argument have, and are the shapes "
        "equal?",
        "The shape of the code: `if <a is not one-dimensional>: raise ValueError(f'a has the shape {tuple(a.shape)}, "
        "…')`, the same if the shapes differ, and then one line that returns <the sum of the products>.",
    ),
)


@dot.oracle
def dot_oracle(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"a has the shape {tuple(a.shape)} and b {tuple(b.shape)}; both must be (K,)")
    return torch.linalg.vecdot(a, b)


dot.example("the worked example", call(torch.tensor([2.0, 0.0, -1.0]), torch.tensor([3.0, 7.0, 4.0])))
dot.example(
    "four numbers, and a negative result",
    call(torch.tensor([1.0, -2.0, 0.5, 3.0]), torch.tensor([-4.0, 1.0, 6.0, -2.0])),
)
dot.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([0.5, 2.0]), torch.tensor([3.0, 4.0])),
    call(torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64)),
    check_types=True,
)
dot.example(
    "gradients flow back", call(torch.tensor([1.0, -2.0, 3.0]), torch.tensor([4.0, 5.0, -6.0])).with_gradients()
)
dot.example(
    "shapes that differ are refused", call(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0])).raises("a", "b")
)
dot.example("a column is refused", call(torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]])).raises("a", "b"))


@dot.criterion("multiplies place by place and adds up", points=2)
def _(draw):
    for length, sign in ((7, 1.0), (5, -1.0), (1, -1.0), (300, 1.0)):
        yield call(*a_pair(draw, length, sign=sign))
    a, b = a_pair(draw, 8)
    yield call(1e15 * a, -1e14 * b).label("dot of two vectors of 8 numbers around 1e15")
    a, b = a_pair(draw, 40)
    yield call(1e-3 * a, 1e-2 * b).label("dot of two vectors of 40 numbers around 0.01")
    # Computed from sums and differences of the two, the shorter vector is lost to rounding
    a, b = a_pair(draw, 6)
    yield call(1e5 * a, 1e-2 * b).label("dot of a long and a short vector of 6 numbers")
    yield after(a_pair(draw, 5), a_pair(draw, 5))
    yield changed_since(a_pair(draw, 4), a_pair(draw, 4))


@dot.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(*a_pair(draw, 4))
    yield call(*a_pair(draw, 4)).device_only()
    yield call(*a_pair(draw, 9, dtype=torch.float64))
    # Digits that float32 would round away
    yield call(*a_pair(draw, 6, dtype=torch.float64)).tolerance(1e-10, 1e-11)


@dot.criterion("refuses shapes that differ", points=0.25)
def _(draw):
    yield call(draw.normal(4), draw.normal(3)).raises("a", "b")
    yield call(draw.normal(1), draw.normal(5)).raises("a", "b")  # would broadcast
    yield call(draw.normal(4), draw.normal(4, 1)).raises("a", "b")  # would broadcast; equal lengths
    yield call(draw.normal(1, 3), draw.normal(3)).raises("a", "b")  # would broadcast; equal numbers of elements
    yield call(draw.normal(4, 2), draw.normal(4)).raises("a", "b")  # equal lengths
    yield call(draw.normal(3, 3), draw.normal(3)).raises("a", "b")  # would broadcast; equal lengths
    yield call(draw.normal(3), torch.tensor(draw.number(1.0, 2.0))).raises("a", "b")
    yield call(draw.normal(4), draw.normal(4)).does_not_raise()


@dot.criterion("refuses what is not one-dimensional", points=0.25)
def _(draw):
    yield call(draw.normal(2, 3), draw.normal(2, 3)).raises("a", "b")
    yield call(draw.normal(1, 4), draw.normal(1, 4)).raises("a", "b")
    yield call(draw.normal(5, 1), draw.normal(5, 1)).raises("a", "b")
    yield call(torch.tensor(draw.number(1.0, 2.0)), torch.tensor(draw.number(1.0, 2.0))).raises("a", "b")
    yield call(draw.normal(1), draw.normal(1)).does_not_raise()


@dot.criterion("gradients", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 6)).with_gradients()
    yield call(*a_pair(draw, 3)).with_gradients()
    s = Script(x=draw.normal(4))
    s.call(EXERCISE, s.x, s.x)
    yield s.case().label("dot of a vector with itself").with_gradients()


@dot.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 5)).does_not_mutate()
    yield call(*map(non_contiguous, a_pair(draw, 6))).does_not_mutate()
