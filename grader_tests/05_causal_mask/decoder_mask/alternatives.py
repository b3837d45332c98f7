"""Right answers to `decoder_mask`, with both masks written out."""

import torch


# %% by_comparing_positions
def decoder_mask(lengths, T):
    position = torch.arange(T, device=lengths.device)
    causal = position > position[:, None]
    padding = (position >= lengths[:, None])[:, None, None, :]
    return causal | padding


# %% by_what_may_be_seen
def decoder_mask(lengths, T):
    seen = torch.ones(T, T, dtype=torch.bool, device=lengths.device).tril()
    words = torch.arange(T, device=lengths.device) < lengths.view(-1, 1, 1, 1)
    return ~(seen & words)
