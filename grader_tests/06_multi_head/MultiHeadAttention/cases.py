"""Building blocks of the test cases of `MultiHeadAttention`."""

from ...shared.attending import attend
from ...shared.families.cases import attention_inputs

# Dropout that drops nothing: `torch.rand` is below it once in 17 million, and a case has 12 nonzero weights
BARELY = 1e-10
P, SHAPE = 0.3, (2, 3, 8, 48)


def weights(draw, width):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


def in_setting(draw, setting, n_heads):
    """A module of width 6 in a shared setting: mask, mode, dropout, one sequence or two."""
    inputs = attention_inputs(draw, setting, batch=1, queries=2, keys=3, width=6)
    case = attend(weights(draw, 6), n_heads, options={"dropout": setting.dropout}, training=setting.training, **inputs)
    return case.label(f"MultiHeadAttention(6, {n_heads}, dropout={setting.dropout}): {setting.label}")
