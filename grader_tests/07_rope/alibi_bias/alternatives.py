"""Right answers to `alibi_bias` in other styles."""

import torch


# %% head_by_head
def alibi_bias(n_heads, T):
    heads = []
    i = torch.arange(T)
    for h in range(n_heads):
        slope = 2 ** (-8 * (h + 1) / n_heads)
        heads.append(-slope * (i.view(-1, 1) - i.view(1, -1)).abs().float())
    return torch.stack(heads)


# %% with_an_outer_product
def alibi_bias(n_heads, T):
    ratio = 2 ** (-8 / n_heads)
    slopes = torch.tensor([ratio**h for h in range(1, n_heads + 1)])
    gaps = torch.cdist(torch.arange(T).float()[:, None], torch.arange(T).float()[:, None], p=1.0)
    return torch.einsum("h,ts->hts", slopes, -gaps)


# %% by_triangles
def alibi_bias(n_heads, T):
    behind = torch.arange(T, dtype=torch.float32).unsqueeze(1) - torch.arange(T, dtype=torch.float32)
    gaps = behind.tril() + behind.tril().mT
    slopes = torch.exp2(-8 / n_heads * torch.arange(1, n_heads + 1))
    return -(slopes.reshape(n_heads, 1, 1) * gaps)
