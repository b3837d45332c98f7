"""Right answers to `write_rolling`."""

import torch


# %% by_index
def write_rolling(kept, new, start):
    rows = torch.arange(start, start + new.shape[-2], device=kept.device) % kept.shape[-2]
    kept[..., rows, :] = new
    return kept


# %% row_by_row
def write_rolling(kept, new, start):
    for i in range(new.shape[-2]):
        kept[..., (start + i) % kept.shape[-2], :] = new[..., i, :]
    return kept
