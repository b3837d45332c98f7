"""Building blocks of the test cases of `masked_attention`."""

import torch


def on_paper():
    """One query and two keys of width 4 (its root is 2): scaled scores (1, 4)."""
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[1.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]])
    return query, key, torch.tensor([[5.0], [7.0]])


def drawn(draw, *leading, T=4, S=6, K=5, V=3, **options):
    """Queries, keys and values with these leading dimensions."""
    return tuple(draw.normal(*leading, *shape, **options) for shape in ((T, K), (S, K), (S, V)))
