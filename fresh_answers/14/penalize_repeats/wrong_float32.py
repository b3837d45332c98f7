# float64 logits come back as float32
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be positive ({penalty})")
    factor = torch.ones(len(logits), device=logits.device)
    factor[ids] = float(penalty)
    x = logits.to(factor.dtype)
    return torch.where(x > 0, x / factor, x * factor)
