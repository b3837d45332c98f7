"""Known mistakes in `Line`."""

from ...shared.families import gradients, shapes
from .contract import Line

BEGINS, GRADIENTS = "begins at 0", "gradients reach"

right = Line.reference_answer("""
class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.0))
        self.offset = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return self.slope * x + self.offset
""")

right.mistake("offset_inside", {"x + self.offset": "(x + self.offset)"}, loses="slope times").feedback(
    "You add the offset before you multiply, so it is multiplied by the slope, too. First the product, then the sum."
)
right.mistake(
    "names_exchanged", {"self.slope * x + self.offset": "self.offset * x + self.slope"}, loses="slope times"
).feedback("Slope and offset have changed places in `forward`: the slope is what `x` is multiplied by.")
right.mistake("no_offset", {" + self.offset": ""}, loses="slope times").feedback(
    "The offset is missing from the result: this line always goes through 0."
)
right.mistake("less_the_offset", {" + self.offset": " - self.offset"}, loses="slope times").feedback(
    "The offset is taken away instead of being added."
)
right.mistake("begins_at_one", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.tensor(1.0))
""").feedback("A new line has the slope 1. Asked for is one that begins with slope and offset 0.")
right.mistake("shape_one", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.zeros(1))
+ self.offset = nn.Parameter(torch.zeros(1))
""").feedback(
    "The parameters have the shape `(1,)`, a list of one number. Asked for are single numbers, of shape `()`."
)
right.mistake("plain_tensors", loses=(BEGINS, GRADIENTS)).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = torch.tensor(0.0)
+ self.offset = torch.tensor(0.0)
""").feedback(
    "Slope and offset are plain tensors: no optimizer finds them, and they are not saved. `nn.Parameter(…)` around "
    "each makes them parameters."
)
right.mistake("frozen_offset", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.tensor(0.0), requires_grad=SLOPE)
+ self.offset = nn.Parameter(torch.tensor(0.0), requires_grad=not SLOPE)
""").for_each(SLOPE=(True, False)).feedback(
    "One of the parameters is never trained: `requires_grad=False` excludes it."
)
right.mistake(gradients.cut("reads_data", what="the slope"), {"self.slope * x": "self.slope.data * x"}, loses=GRADIENTS)
right.mistake(gradients.cut("detaches_x", what="`x`"), {"self.slope * x": "self.slope * x.detach()"}, loses=GRADIENTS)
right.mistake(shapes.squeezed, {"self.slope * x": "self.slope * x.squeeze()"}, loses="slope times")
right.mistake("begins_at_random", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.randn(()))
+ self.offset = nn.Parameter(torch.randn(()))
""").feedback("A new line has random parameters. Slope and offset must be 0 at first.")
right.mistake("reads_numbers", loses=GRADIENTS).patch("""
- return self.slope * x + self.offset
+ return self.slope.item() * x + self.offset.item()
""").feedback(
    "`.item()` makes plain numbers of the parameters, which gradients cannot reach. Compute with the parameters "
    "themselves."
)
right.mistake("reads_the_offset_as_a_number", {" + self.offset": " + self.offset.item()"}, loses=GRADIENTS).feedback(
    "`.item()` makes a plain number of the offset, which no gradient can reach. Compute with the parameter itself."
)
right.mistake("leaves_x_out", {"self.slope * x": "self.slope"}, loses="slope times").feedback(
    "`x` does not occur in the result. The slope is multiplied by `x`, and then the offset is added."
)
