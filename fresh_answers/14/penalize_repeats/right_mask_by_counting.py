# bincount says which tokens occur
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be above 0, not {penalty}")
    occurs = torch.bincount(ids, minlength=logits.numel()) > 0
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(occurs, changed, logits)
