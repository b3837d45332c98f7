"""`AttentionLayer`, a step: a module that returns its weights only if asked."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, helper, ref, sample_model, step

attention_layer = step(
    "AttentionLayer",
    see="Exercise: a module that shows its weights (extra)",
    hints=(
        "What does `forward` return with `return_attention=False`, and what with True?",
        "In `__init__`, call `super().__init__()` and keep `attention` in an attribute, so that the layer has its "
        "parameters. In `forward`, call it with the mask, by name: `mask=mask`.",
    ),
)


@attention_layer.oracle
class AttentionLayerOracle(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x, mask=None, return_attention=False):
        found = self.attention(x, mask=mask)
        return found if return_attention else found[0]


def layer(width, n_heads, state, **inputs):
    s = Script(inner=sample_model("Projections", state, width=width, n_heads=n_heads), **inputs)
    s.call(EXERCISE, s.inner, name="layer")
    return s


def identities(width):
    return {f"W_{name}.weight": torch.eye(width) for name in "qkvo"}


WORDS = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])


@attention_layer.example("the output alone, then with the weights")
def _():
    s = layer(2, 2, identities(2), x=WORDS)
    s.call(ref("layer"), s.x, name="output")
    s.call(ref("layer"), s.x, return_attention=True, name="both")
    yield s.case(ref("output"), ref("both")).label("layer(x), and layer(x, return_attention=True)")


@attention_layer.example("with a causal mask")
def _():
    s = layer(2, 1, identities(2), x=WORDS, mask=torch.tensor([[False, True], [False, False]]))
    s.call(ref("layer"), s.x, mask=s.mask, return_attention=True, name="both")
    yield s.case(ref("both")).label("layer(x, mask=causal, return_attention=True)")


@attention_layer.example("its parameters")
def _():
    s = layer(2, 1, identities(2))
    s.call(helper("fill"), ref("layer"), 3.0)
    s.call(helper("state_of"), s.inner, name="state")
    yield s.case(ref("state")).label("the weights of attention, after all parameters of the layer were filled with 3")


@attention_layer.criterion("output alone, or output and weights")
def _(draw):
    state = {f"W_{name}.weight": draw.normal(6, 6) for name in "qkvo"}
    s = layer(6, 3, state, x=draw.normal(2, 5, 6), mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    s.call(ref("layer"), s.x, name="output")
    s.call(ref("layer"), s.x, s.mask, True, name="both")
    s.call(ref("layer"), s.x, s.mask, name="masked")
    yield s.case(ref("output"), ref("both"), ref("masked")).label("layer(x), layer(x, mask, True), layer(x, mask)")
