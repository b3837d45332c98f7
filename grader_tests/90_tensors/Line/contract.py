"""`Line`: a module with two parameters, slope * x + offset."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, device, exercise, helper, method, non_contiguous, ref

Line = exercise(
    "Line",
    see="Exercise: `Line()`",
    hints=(
        "Which numbers may training change? Make those once, in `__init__`. Which change with every call? Those are "
        "arguments of `forward`.",
        "`super().__init__()` comes first. `self.slope = nn.Parameter(tensor)` makes a parameter and registers it.",
        "Outline of the code: in `__init__`, two lines like `self.slope = nn.Parameter(<a zero>)`; in `forward`, "
        "`return <slope> * x + <offset>`, each with `self.`.",
    ),
)


@Line.oracle
class LineOracle(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(()))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return torch.addcmul(self.offset, self.slope, x)


def line(x, slope, offset):
    """A script that makes a line with these parameters ("module") and calls it ("y")."""
    s = Script(x=x)
    m = s.call(EXERCISE, name="module")
    state = {name: torch.tensor(value, dtype=x.dtype) for name, value in (("slope", slope), ("offset", offset))}
    s.call(helper("load_weights"), m, state)
    s.call(m, s.x, name="y")
    return s


@Line.example("slope 2, offset 1")
def _():
    yield line(torch.tensor([0.0, 1.0, 3.0]), 2.0, 1.0).case().label("Line() with slope 2, offset 1, of [0, 1, 3]")


@Line.example("a new line is 0 everywhere")
def _():
    s = Script(x=torch.tensor([1.0, -5.0]))
    s.call(s.call(EXERCISE, name="module"), s.x, name="y")
    yield s.case().label("Line() of [1, -5]")


@Line.example("its parameters, by name")
def _():
    s = Script()
    s.call(helper("state_of"), s.call(EXERCISE, name="module"), name="state")
    yield s.case().label("the parameters of Line(), by name")


@Line.example("both are trained")
def _():
    s = line(torch.tensor([1.0, 3.0]), 2.0, 1.0)
    s.call(helper("backward"), ref("y", 1))
    s.call(helper("gradients_of"), ref("module"), name="gradients")
    yield s.case(ref("gradients")).label("the gradients of slope and offset after y[1].backward(), x = [1, 3]")


@Line.criterion("slope times x plus offset", points=1.75)
def _(draw):
    for shape in ((5,), (3, 4), (), (1, 1)):
        x = draw.normal(*shape) if shape else draw.normal(1)[0]
        s = line(x, draw.number(1.0, 3.0), draw.number(-3.0, -1.0))
        yield s.case().label(f"a line of a tensor of shape {shape}")
    yield (
        line(non_contiguous(draw.normal(2, 3)), -1.5, 0.5)
        .case()
        .does_not_mutate()
        .label("a line of a transposed tensor")
    )
    s = Script(x=draw.normal(3))
    s.call(method(s.call(EXERCISE, name="module"), "to"), device(), name="moved")
    s.call(ref("moved"), s.x, name="y")
    yield s.case(ref("y")).device_only().label("a new line of three numbers")
    x = draw.normal(4, dtype=torch.float64)
    yield line(x, draw.number(1.0, 2.0), draw.number(1.0, 2.0)).case().label("a line in float64")


@Line.criterion("begins at 0, with parameters slope and offset of shape ()", points=1.5, tries="parameters")
def _(draw):
    s = Script(x=draw.normal(4))
    s.call(s.call(EXERCISE, name="module"), s.x, name="y")
    yield s.case().label("a new line of four numbers")
    s = Script()
    s.call(helper("state_of"), s.call(EXERCISE, name="module"), name="state")
    yield s.case().label("the parameters of a new line, by name")
    s = Script()
    s.call(helper("trainable"), s.call(EXERCISE, name="module"), name="trainable")
    yield s.case().label("which parameters of a new line are trained")


@Line.criterion("gradients reach x, slope and offset", points=1.5, tries="trained")
def _(draw):
    yield (
        line(draw.normal(5), draw.number(1.0, 2.0), draw.number(1.0, 2.0))
        .case()
        .with_gradients()
        .label("the gradient of x")
    )
    for _ in range(2):
        s = line(draw.normal(3), draw.number(1.0, 2.0), draw.number(1.0, 2.0))
        s.call(helper("backward"), ref("y", 1))
        s.call(helper("gradients_of"), ref("module"), name="gradients")
        yield s.case(ref("gradients")).label("the gradients of slope and offset, of one of three results")


@Line.sizes(points=0.25, rows=(1, 3, 100), width=(1, 5, 100))
def _(draw, rows, width):
    s = line(draw.normal(rows, width), draw.number(1.0, 3.0), draw.number(-3.0, -1.0))
    return s.case().label(f"a line of a tensor of shape ({rows}, {width})")
