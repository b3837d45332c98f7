# a penalty below 1 is refused
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty >= 1:
        raise ValueError(f"penalty must be at least 1 to punish anything, not {penalty}")
    where = sorted(set(ids.tolist()))
    out = logits.clone()
    picked = logits[where]
    out[where] = torch.where(picked < 0, picked * penalty, picked / penalty)
    return out
