"""Right answers to `ablate` in other styles."""

import torch


# %% ablate_a_copy
def ablate(head_outputs, heads, mean=None):
    out = head_outputs.clone()
    for h in heads:
        out[:, h] = 0.0 if mean is None else mean[h]
    return out


# %% ablate_by_index
def ablate(head_outputs, heads, mean=None):
    out = head_outputs.clone()
    out[:, heads] = 0.0 if mean is None else mean[heads].unsqueeze(1)
    return out


# %% ablate_by_a_factor
def ablate(head_outputs, heads, mean=None):
    keep = torch.ones(head_outputs.shape[1], 1, 1, dtype=head_outputs.dtype, device=head_outputs.device)
    keep[heads] = 0.0
    kept = head_outputs * keep
    return kept if mean is None else kept + mean[:, None, :] * (1 - keep)


# %% ablate_by_stacking
def ablate(head_outputs, heads, mean=None):
    B, H, T, K = head_outputs.shape
    columns = []
    for h in range(H):
        if h not in heads:
            columns.append(head_outputs[:, h])
        elif mean is None:
            columns.append(torch.zeros_like(head_outputs[:, h]))
        else:
            columns.append(mean[h].expand(B, T, K))
    return torch.stack(columns, dim=1)


# %% ablate_by_masked_fill
def ablate(head_outputs, heads, mean=None):
    gone = torch.zeros(head_outputs.size(1), dtype=torch.bool, device=head_outputs.device)
    gone[list(heads)] = True
    out = head_outputs.masked_fill(gone.view(1, -1, 1, 1), 0)
    if mean is not None:
        out = out + mean.masked_fill(~gone[:, None], 0)[None, :, None]
    return out
