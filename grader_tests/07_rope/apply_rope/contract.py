"""`apply_rope`: neighbouring pairs turned by their positions, counter-clockwise."""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous, ref

from ...shared import BUILT_IN
from ..common import turned

ROTATING = "Exercise: `apply_rope(x, positions, frequencies=None)`"

apply_rope = exercise(
    "apply_rope",
    see=ROTATING,
    forbidden=BUILT_IN,
    hints=(
        "Which two angles does a vector of four numbers at position 3 need, and which numbers does each of them turn?",
        "Make a table of angles, (T, dim // 2): every position times every frequency. Its cosines and sines broadcast "
        "over the leading dimensions of x. Take all first members of the pairs, x[..., 0::2], and all second ones, "
        "turn them, and interleave them again.",
        "`angles = positions[:, None] * …`, `cos, sin = …`; `even, odd = …`; `turned = torch.stack(["
        "…, …], dim=-1)`, of shape (..., T, dim // 2, 2); `return turned.flatten(…)`, in the dtype of x.",
    ),
)


@apply_rope.oracle
def apply_rope_oracle(x, positions, frequencies=None):
    dim = x.shape[-1]
    if frequencies is None:
        frequencies = 10000.0 ** -(torch.arange(0, dim, 2, device=x.device).double() / dim)
    angles = positions.to(x.device, torch.float64)[:, None] * frequencies.double()  # (T, dim / 2)
    cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
    turn = torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])  # (from, to, T, dim / 2)
    return torch.einsum("...tif,fgti->...tig", x.unflatten(-1, (-1, 2)), turn).flatten(-2)


apply_rope.example(
    "the worked example: half a turn and a quarter",
    turned(call(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([2]), torch.tensor([math.pi / 2, math.pi / 4])), 4),
)
apply_rope.example(
    "one pair at three positions",
    turned(call(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1, 2])), 2),
    check_types=True,
)


@apply_rope.example("two pairs: the second turns a hundred times slower")
def _():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    yield turned(call(x, torch.tensor([5, 2])), 5)


@apply_rope.example("a batch of two, with two heads, with gradients")
def _():
    x = torch.arange(1.0, 49.0).reshape(2, 2, 3, 4).sin()
    yield turned(call(x, torch.tensor([0, 3, 1])).with_gradients(), 3)


@apply_rope.example("far away, and between two whole positions")
def _():
    x = torch.tensor([[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]])
    yield turned(call(x, torch.tensor([9000.0, 0.5])), 9000)


@apply_rope.criterion("every pair is turned by its angle", points=2)
def _(draw):
    for T, dim in ((5, 2), (7, 4), (3, 6), (4, 14), (9, 64)):
        yield turned(call(draw.normal(T, dim), torch.arange(T)), T)
    yield turned(call(draw.normal(1, 8), torch.tensor([draw.integer(3, 9)])), 9)


@apply_rope.criterion("any positions, in any order", points=1.25, tries="order")
def _(draw):
    yield turned(call(draw.normal(6, 8), draw.permutation(40)[:6]), 40)
    yield turned(call(draw.normal(5, 4), torch.tensor([17, 3, 3, 0, 11])), 17)  # one position twice
    yield turned(call(draw.normal(7, 6), draw.uniform(7, low=0.0, high=30.0)), 30)  # fractions
    yield turned(call(draw.normal(4, 8), draw.permutation(50)[:4] + draw.number(0.2, 0.8)), 51)
    yield turned(call(draw.normal(4, 10), positions=-draw.permutation(20)[:4] - 1), 20)
    yield turned(call(draw.normal(6, 6), non_contiguous(draw.permutation(30)[:6])), 30)
    places = torch.cat([torch.tensor([0]), draw.permutation(8)[:4] + 1, torch.tensor([9])])
    s = Script(before=draw.normal(6, 8), x=draw.normal(6, 8), first=places, then=places[[0, 3, 4, 1, 2, 5]])
    s.call(EXERCISE, s.before, s.first)
    s.call(EXERCISE, s.x, s.then, name="out")  # nothing of the first positions may remain
    text = "apply_rope(x (6, 8), positions (6,)), after a call with the same positions in another order"
    yield turned(s.case(ref("out")).label(text), 9)


@apply_rope.criterion("any leading dimensions", points=1.25, tries="leading")
def _(draw):
    for lead in ((3,), (2, 3), (3, 1, 2), (2, 1, 3, 2)):
        yield turned(call(draw.normal(*lead, 5, 8), draw.permutation(25)[:5]), 25)
    # as many sentences and heads as words: sizes do not identify dimensions
    yield turned(call(draw.normal(4, 4, 4, 6), draw.permutation(25)[:4]), 25)
    yield turned(call(draw.normal(4, 1, 6), draw.integers(5, 9, 1)), 9)


@apply_rope.criterion("positions as far as 10,000", points=0.5, tries="far")
def _(draw):
    yield turned(call(draw.normal(6, 8), draw.integers(2000, 10001, 6)), 10000)
    yield turned(call(draw.normal(2, 5, 64), torch.tensor([10000, 0, 4096, 9999, 600])), 10000)
    yield turned(call(draw.normal(4, 32), draw.uniform(4, low=2500.0, high=9000.0)), 10000).tries("far", "order")


@apply_rope.criterion("the frequencies that are given", points=0.75, tries="given")
def _(draw):
    yield turned(call(draw.normal(5, 8), draw.permutation(5), draw.uniform(4)), 5)
    yield turned(call(draw.normal(2, 3, 4, 6), draw.integers(0, 60, 4), frequencies=draw.uniform(3, low=0.2)), 60)
    any_numbers = torch.tensor([0.0, -0.5, 2.5, 0.0, 0.1])[draw.permutation(5)]
    yield turned(call(draw.normal(7, 10), draw.permutation(20)[:7], any_numbers), 50)
    yield turned(call(draw.normal(4, 2), draw.permutation(20)[:4], draw.uniform(1, low=0.3)), 20)
    s = Script(before=draw.normal(4, 8), x=draw.normal(4, 8), positions=draw.permutation(20)[:4], given=draw.uniform(4))
    s.call(EXERCISE, s.before, s.positions)
    s.call(EXERCISE, s.x, s.positions, s.given, name="out")  # nothing of the first frequencies may remain
    text = "apply_rope(x (4, 8), positions (4,), frequencies (4,)), after a call without frequencies"
    yield turned(s.case(ref("out")).label(text), 20)


@apply_rope.criterion("gradients", points=0.5)
def _(draw):
    yield turned(call(draw.normal(5, 6), torch.arange(5)).with_gradients(), 5)
    yield turned(call(draw.normal(2, 3, 4, 8), draw.permutation(20)[:4]).with_gradients(), 20)
    padded = draw.normal(4, 6)
    padded[2] = 0.0  # a vector of zeros has no angle, and its gradient is turned like every other
    yield turned(call(padded, draw.permutation(20)[:4]).with_gradients(), 20)
    yield turned(call(draw.normal(3, 6, 2).double(), draw.permutation(20)[:6]).with_gradients(), 20)


@apply_rope.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield turned(call(draw.normal(2, 5, 8, dtype=torch.float64), draw.permutation(20)[:5]).does_not_mutate(), 20)
    positions = draw.uniform(4, high=20.0, dtype=torch.float64)
    yield turned(call(draw.normal(4, 6, dtype=torch.float64), positions).tries("order").does_not_mutate(), 20)
    yield turned(call(draw.normal(3, 6), draw.uniform(3, high=20.0)).tries("order").does_not_mutate(), 20)
    yield call(draw.normal(2, 5, 6), draw.permutation(20)[:5]).device_only()
    given = draw.uniform(3, low=0.1)
    yield call(draw.normal(2, 5, 6), draw.permutation(20)[:5], given).tries("given").device_only()
    # the dtype of x decides, whatever that of the others is
    yield turned(call(draw.normal(2, 3, 6), draw.uniform(3, high=20.0, dtype=torch.float64)).tries("order"), 20)
    yield turned(call(draw.normal(3, 8, dtype=torch.float64), draw.uniform(3, high=20.0)).tries("order"), 20)
    double = draw.uniform(4, dtype=torch.float64)
    yield turned(call(draw.normal(5, 8), draw.permutation(20)[:5], double).tries("given").does_not_mutate(), 20)
    yield turned(call(non_contiguous(draw.normal(2, 5, 6)), draw.permutation(20)[:5]).does_not_mutate(), 20)
    # heads split from wider vectors, as in a module: (B, T, H, Dk), then heads and positions exchanged
    yield turned(call(draw.normal(2, 7, 3, 6).transpose(1, 2), draw.permutation(25)[:7]), 25)


@apply_rope.sizes(points=0.25, B=(1, 3, 40), T=(1, 5, 50), dim=(2, 6, 60))
def _(draw, B, T, dim):
    return turned(call(draw.normal(B, T, dim), draw.integers(0, 100, T)), 100)
