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
    "You add the offset before you multiply, so the slope multiplies it too. Multiply first."
)
right.mistake(
    "names_exchanged", {"self.slope * x + self.offset": "self.offset * x + self.slope"}, loses="slope times"
).feedback("You swapped `slope` and `offset` in `forward`. The slope is the factor of `x`.")
right.mistake("no_offset", {" + self.offset": ""}, loses="slope times").feedback(
    "You do not add the offset, so the line always passes through 0."
)
right.mistake("less_the_offset", {" + self.offset": " - self.offset"}, loses="slope times").feedback(
    "You subtract the offset instead of adding it."
)
right.mistake("begins_at_one", loses=BEGINS, clause="parameters").patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.tensor(1.0))
""").feedback("Your new line has slope 1. It must start with slope 0 and offset 0.")
right.mistake("shape_one", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.zeros(1))
+ self.offset = nn.Parameter(torch.zeros(1))
""").feedback(
    "Your parameters have shape `(1,)`: each is a list of one number. Make them single numbers, of shape `()`."
)
right.mistake("plain_tensors", loses=(BEGINS, GRADIENTS)).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = torch.tensor(0.0)
+ self.offset = torch.tensor(0.0)
""").feedback(
    "Slope and offset are plain tensors, so no optimizer finds them and they are not saved. Wrap each in "
    "`nn.Parameter(…)`."
)
right.mistake("frozen_offset", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.tensor(0.0), requires_grad=SLOPE)
+ self.offset = nn.Parameter(torch.tensor(0.0), requires_grad=not SLOPE)
""").for_each(SLOPE=(True, False)).feedback(
    "One of the parameters is never trained. `requires_grad=False` excludes it from training."
)
right.mistake(
    gradients.cut("reads_data", what="the slope"),
    {"self.slope * x": "self.slope.data * x"},
    loses=GRADIENTS,
    clause="trained",
)
right.mistake(gradients.cut("detaches_x", what="`x`"), {"self.slope * x": "self.slope * x.detach()"}, loses=GRADIENTS)
right.mistake(shapes.squeezed, {"self.slope * x": "self.slope * x.squeeze()"}, loses="slope times")
right.mistake("begins_at_random", loses=BEGINS).patch("""
- self.slope = nn.Parameter(torch.tensor(0.0))
- self.offset = nn.Parameter(torch.tensor(0.0))
+ self.slope = nn.Parameter(torch.randn(()))
+ self.offset = nn.Parameter(torch.randn(()))
""").feedback("Your new line has random parameters. Slope and offset must both start at 0.")
right.mistake("reads_numbers", loses=GRADIENTS).patch("""
- return self.slope * x + self.offset
+ return self.slope.item() * x + self.offset.item()
""").feedback(
    "You turn the parameters into plain numbers (`.item()`), so no gradient reaches them. Compute with the "
    "parameters themselves."
)
right.mistake("reads_the_offset_as_a_number", {" + self.offset": " + self.offset.item()"}, loses=GRADIENTS).feedback(
    "You turn the offset into a plain number (`.item()`), so no gradient reaches it. Compute with the parameter itself."
)
right.mistake("leaves_x_out", {"self.slope * x": "self.slope"}, loses="slope times").feedback(
    "You do not use `x`. Multiply the slope by it, then add the offset."
)
