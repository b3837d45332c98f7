"""Right answers to `head_contributions` in other styles."""

import torch


# %% the_direction_taken_back
def head_contributions(head_outputs, W_o, direction):
    _, H, _, K = head_outputs.shape
    wanted = (direction @ W_o).reshape(H, 1, K)
    return (head_outputs * wanted).sum(dim=-1)


# %% one_head_after_another
def head_contributions(head_outputs, W_o, direction):
    K = head_outputs.shape[-1]
    parts = []
    for h in range(head_outputs.shape[1]):
        added = head_outputs[:, h] @ W_o[:, h * K : (h + 1) * K].T
        parts.append(added @ direction)
    return torch.stack(parts, dim=1)


# %% in_one_sum
def head_contributions(head_outputs, W_o, direction):
    by_head = W_o.unflatten(-1, (head_outputs.shape[1], head_outputs.shape[-1]))
    return torch.einsum("bhtk,dhk,d->bht", head_outputs, by_head, direction)
