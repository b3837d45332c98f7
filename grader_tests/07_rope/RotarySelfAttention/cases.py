"""Building blocks of the test cases of `RotarySelfAttention`."""

import torch

from ...shared.attending import W_K, W_O, W_Q, W_V


def weights(draw, width):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    state = draw.state(W_qkv__weight=(3 * width, width), W_o__weight=(width, width))
    state["W_qkv.weight"][: 2 * width] *= 1.3
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
    return {"W_qkv.weight": torch.cat([W_Q, W_K, W_V]), "W_o.weight": W_O}
