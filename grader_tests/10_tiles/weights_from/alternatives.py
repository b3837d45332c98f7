"""Right answers to `weights_from`."""

import torch


# %% filled_before
def weights_from(scores, lse):
    lse = lse.masked_fill(lse.isneginf(), 0.0)
    return torch.exp(scores - lse[..., None])


# %% filled_after
def weights_from(scores, lse):
    empty = torch.isneginf(lse).unsqueeze(-1)
    return torch.exp(scores - lse.unsqueeze(-1)).masked_fill(empty, 0.0)


# %% from_a_finite_level
def weights_from(scores, lse):
    level = lse.clamp(min=torch.finfo(lse.dtype).min)
    return (scores - level[..., None]).exp()
