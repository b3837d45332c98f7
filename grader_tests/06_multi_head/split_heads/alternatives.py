"""Right answers to `split_heads` in other styles."""

import math

import torch


# %% split_by_view_and_permute
def split_heads(x, n_heads):
    batch, tokens, width = x.size()
    if n_heads <= 0 or width % n_heads != 0:
        raise ValueError(f"x of shape {tuple(x.shape)} cannot be shared out among {n_heads} heads")
    return x.view(batch, tokens, n_heads, -1).permute(0, 2, 1, 3).contiguous()


# %% split_by_stacked_chunks
def split_heads(x, n_heads):
    size, rest = divmod(x.shape[-1], max(n_heads, 1))
    if rest or n_heads < 1:
        raise ValueError(f"n_heads={n_heads} does not divide D={x.shape[-1]}")
    return torch.stack(torch.split(x, size, dim=2), 1)


# %% split_cell_by_cell
def split_heads(x, n_heads):
    B, T, D = x.shape
    if not n_heads > 0 or D // n_heads * n_heads != D:
        raise ValueError(f"bad n_heads: {n_heads}")
    out = x.new_zeros(B, n_heads, T, D // n_heads)
    for h in range(n_heads):
        for k in range(D // n_heads):
            out[:, h, :, k] = x[:, :, h * (D // n_heads) + k]
    return out


# %% split_by_an_index
def split_heads(x, n_heads):
    if n_heads not in [n for n in range(1, x.shape[-1] + 1) if x.shape[-1] % n == 0]:
        raise ValueError(f"x.shape is {list(x.shape)}, n_heads is {n_heads}: no whole number of columns for each")
    columns = torch.arange(x.shape[-1], device=x.device).reshape(n_heads, -1)
    return x[:, :, columns].movedim(2, 1)


# %% split_from_the_transposed
def split_heads(x, n_heads):
    if n_heads < 1 or x.shape[-1] % n_heads > 0:
        raise ValueError("n_heads must divide %d, but is %s" % (x.shape[-1], n_heads))
    return x.mT.reshape(len(x), n_heads, -1, x.shape[1]).mT


# %% split_by_vmap
def split_heads(x, n_heads):
    class NotDivisible(ValueError):
        pass

    if not isinstance(n_heads, int) or n_heads == 0 or math.gcd(x.shape[-1], n_heads) != n_heads:
        raise NotDivisible(f"`n_heads` = {n_heads}")
    return torch.vmap(lambda sentence: sentence.unflatten(1, (n_heads, -1)).swapaxes(0, 1))(x)
