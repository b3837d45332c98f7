"""Right answers to `centre` in other styles."""

import torch


# %% by_unsqueezing
def centre(x):
    return x - x.mean(-1).unsqueeze(-1)


# %% by_sum_and_size
def centre(x):
    return x - x.sum(dim=-1, keepdim=True) / x.size(-1)


# %% by_turning_rows_and_columns
def centre(x):
    if x.ndim == 1:
        return x - x.mean()
    return (x.mT - x.mean(-1)[..., None, :]).mT


# %% by_a_matrix
def centre(x):
    D = x.shape[-1]
    keep = torch.eye(D, dtype=x.dtype, device=x.device) - 1 / D
    return x @ keep


# %% row_by_row
def centre(x):
    rows = [row - row.mean() for row in x.reshape(-1, x.shape[-1])]
    return torch.stack(rows).reshape(x.shape)
