"""Building blocks of the test cases of `RotarySelfAttention`."""

import torch

from ...shared.attending import W_K, W_O, W_Q, W_V


def weights(draw, width):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    square = (width, width)
    state = draw.state(W_q__weight=square, W_k__weight=square, W_v__weight=square, W_o__weight=square)
    for name in ("W_q.weight", "W_k.weight"):
        state[name] *= 1.3
    return state


def far_apart(draw, T):
    """T unsorted positions with gaps of 2 to 11: not 0 … T-1, and not a shift of it."""
    assert T > 1
    rising = torch.arange(T) * 2 + draw.integers(0, 10, T).cumsum(0)
    while torch.equal(found := rising[draw.permutation(T)], rising):
        pass
    return found


def plain_weights():
    """Weights for the visible examples."""
    return {"W_q.weight": W_Q, "W_k.weight": W_K, "W_v.weight": W_V, "W_o.weight": W_O}
