# negative logits are divided as well
import torch


def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, must be positive")
    seen = torch.isin(torch.arange(len(logits), device=logits.device), ids)
    return torch.where(seen, logits / penalty, logits)
