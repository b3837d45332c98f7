"""What several exercises of the lesson say."""

import torch


def a_pair(draw, *shape, sign=1.0, dtype=torch.float32):
    """Two tensors whose vectors share a direction in part, so that no dot product nearly cancels.

    What is left of one that does depends on the order of its additions, and any order is right.
    """
    a = draw.normal(*shape, dtype=dtype)
    return a, sign * (0.7 * a + 0.7 * draw.normal(*shape, dtype=dtype).abs() * a.sign())
