"""Building blocks of the test cases of `project_qkv`."""

import torch


def words_and_matrices(draw, *lead, D, K, V, dtype=torch.float32):
    """x (..., T, D), where `lead` ends with T, and matrices (D, K), (D, K) and (D, V)."""
    return [draw.normal(*shape, dtype=dtype) for shape in ((*lead, D), (D, K), (D, K), (D, V))]
