# penalised logits have no gradient
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty: a positive number, not {penalty}")
    out = logits.clone()
    for i in set(ids.tolist()):
        value = logits[i].item()
        out[i] = value / penalty if value > 0 else value * penalty
    return out
