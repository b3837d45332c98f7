# penalty = NaN is not refused
import torch


def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty {penalty} is not positive")
    occurs = (ids[:, None] == torch.arange(logits.numel(), device=logits.device)).any(0)
    return torch.where(occurs & (logits > 0), logits / penalty, torch.where(occurs, logits * penalty, logits))
