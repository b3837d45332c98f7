"""Right answers to `top_p` in other styles."""

import torch
import torch.nn.functional as F


# %% a_mask_put_back
def top_p(probs, share):
    if share <= 0 or share > 1:
        raise ValueError(f"share must lie in (0, 1], not {share}")
    values, order = torch.sort(probs, -1, True)
    before = F.pad(values.cumsum(-1)[..., :-1], (1, 0))
    keep = torch.empty_like(before, dtype=torch.bool).scatter(-1, order, before < share)
    kept = probs.masked_fill(~keep, 0.0)
    return F.normalize(kept, p=1.0, dim=-1)


# %% by_ranks
def top_p(probs, share):
    if not (share > 0 and share <= 1):
        raise ValueError(f"bad share: {share}")
    order = probs.argsort(dim=-1, descending=True)
    ranks = order.argsort(dim=-1)
    values = probs.gather(-1, order)
    missing = values.cumsum(-1) - values < share
    kept = probs * missing.gather(-1, ranks)
    return kept / kept.sum(dim=-1, keepdim=True)


# %% one_row_after_another
def top_p(probs, share):
    if not 0 < share <= 1:
        raise ValueError(f"share={share}")
    rows = []
    for row in probs.reshape(-1, probs.shape[-1]):
        kept, total = torch.zeros_like(row), 0.0
        for place in row.argsort(descending=True).tolist():
            if total >= share:
                break
            kept[place] = row[place]
            total += row[place].item()
        rows.append(kept / kept.sum())
    return torch.stack(rows).reshape(probs.shape)
