"""What the cases of `MultiHeadAttention` are made of, and how some are judged."""


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


P, SHAPE = 0.3, (2, 3, 8, 48)
