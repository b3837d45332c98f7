"""Right answers to `value_output_matrices` in other styles."""

import torch


# %% by_einsum
def value_output_matrices(W_v, W_o, n_heads):
    if n_heads < 1 or W_v.shape[0] % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {W_v.shape[0]}")
    rows = W_v.unflatten(0, (n_heads, -1))
    columns = W_o.unflatten(1, (n_heads, -1))
    return torch.einsum("hki,ohk->hio", rows, columns)


# %% head_by_head
def value_output_matrices(W_v, W_o, n_heads):
    width = len(W_v)
    if n_heads <= 0 or width % n_heads != 0:
        raise ValueError(f"n_heads={n_heads} for a width of {width}")
    K = width // n_heads
    heads = []
    for first in range(0, width, K):
        mine = slice(first, first + K)
        heads.append(W_v[mine].T @ W_o[:, mine].T)
    return torch.stack(heads)


# %% a_batched_product
def value_output_matrices(W_v, W_o, n_heads):
    D = W_v.size(0)
    if n_heads not in range(1, D + 1) or D % n_heads:
        raise ValueError(f"n_heads: {n_heads}")
    down = W_v.T.reshape(D, n_heads, D // n_heads).transpose(0, 1)
    up = W_o.T.reshape(n_heads, D // n_heads, D)
    return torch.bmm(down, up)
