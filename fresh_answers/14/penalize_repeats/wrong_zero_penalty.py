# penalty = 0 is not refused
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty >= 0:
        raise ValueError(f"penalty must not be negative, got {penalty}")
    i = torch.unique(ids)
    x = logits[i]
    return logits.index_copy(0, i, torch.where(x > 0, x / penalty, x * penalty))
