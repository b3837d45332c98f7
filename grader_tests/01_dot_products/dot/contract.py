"""`dot`: the sum of products of two vectors."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import PRODUCTS, a_pair, changed_since

dot = exercise(
    "dot",
    see="Exercise: `dot(a, b)`",
    forbidden=PRODUCTS,
    hints=(
        "Take `[2, 0, -1]` and `[3, 7, 4]` and a pencil. What do you do with two entries at the same position? And "
        "with the three products?",
        "`a * b` gives the products, all at once. A tensor has a method that adds up its entries.",
        "The shape of the code: one line, `return (<the products>).<the method that adds them up>`.",
    ),
)


@dot.oracle
def dot_oracle(a, b):
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


@dot.criterion("multiplies place by place and adds up", points=2.25)
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


@dot.sizes(points=0.25, D=(1, 6, 1000))
def _(draw, D):
    return call(*a_pair(draw, D))
