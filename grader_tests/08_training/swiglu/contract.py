"""`swiglu`, a step: the gated feed-forward layer."""

import torch
import torch.nn.functional as F

from grading.exercises.exercise import call, step

swiglu = step(
    "swiglu",
    see="Exercise: a gate",
    hints=(
        "How many of the three matrices see x itself? What does the third one see?",
        "Two rows of F numbers: the gate, which goes through silu, and the other one, which does not. Multiply them "
        "entry by entry, and lead the product back to D numbers.",
        "The shape of the code: `gate = F.silu(x @ …)`, then `(gate * (x @ …)) @ …`. `nn.Linear` keeps its matrix as"
        " (outputs, inputs), so each is transposed here: `.T`.",
    ),
)


@swiglu.oracle
def swiglu_oracle(x, W_gate, W_up, W_down):
    gate = F.linear(x, W_gate)
    return F.linear(gate * torch.sigmoid(gate) * F.linear(x, W_up), W_down)


swiglu.example(
    "the worked example",
    call(
        torch.tensor([1.0, 2.0]),
        torch.tensor([[1.0, 0.0], [1.0, -1.0], [0.0, 0.0]]),
        torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        torch.tensor([[1.0, 0.0, 5.0], [0.0, 1.0, 5.0]]),
    ),
)
swiglu.example(
    "two vectors",
    call(
        torch.tensor([[1.0, 0.0], [-1.0, 2.0]]),
        torch.tensor([[1.0, 2.0], [0.0, -1.0], [1.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]]),
        torch.tensor([[1.0, 1.0, 0.0], [0.0, -1.0, 2.0]]),
    ),
)


def drawn(draw, *shape, hidden, **options):
    D = shape[-1]
    sizes = ((hidden, D), (hidden, D), (D, hidden))
    return call(draw.normal(*shape, **options), *(draw.normal(*size, **options) for size in sizes))


@swiglu.criterion("gated, and back to the width of x")
def _(draw):
    yield drawn(draw, 4, 6, hidden=9)
    yield drawn(draw, 3, hidden=7)
    yield drawn(draw, 2, 5, 8, hidden=3).does_not_mutate()
    yield drawn(draw, 2, 3, 4, 6, hidden=10, dtype=torch.float64)
    yield drawn(draw, 3, 5, hidden=4).with_gradients()
