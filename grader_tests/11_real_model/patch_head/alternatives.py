"""Right answers to `patch_head`."""

import torch


# %% by_clone
def patch_head(outputs, clean, head, position):
    out = outputs.clone()
    out[:, head, position] = clean[:, head, position]
    return out


# %% by_mask
def patch_head(outputs, clean, head, position):
    mask = torch.zeros(outputs.shape[1:3], dtype=torch.bool)
    mask[head, position] = True
    return torch.where(mask[:, :, None], clean, outputs)
