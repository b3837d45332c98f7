# a token that occurs twice is penalised twice
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be > 0, got {penalty}")
    out = logits.clone()
    for i in ids:
        out[i] = out[i] / penalty if out[i] > 0 else out[i] * penalty
    return out
