# p = 1 is refused
import torch


def top_p(logits, p):
    if not 0 < p < 1:
        raise ValueError(f"p must lie between 0 and 1, not {p}")
    probs = torch.softmax(logits, -1)
    more = (probs.unsqueeze(-2) > probs.unsqueeze(-1)).to(probs.dtype)
    mass = (more @ probs.unsqueeze(-1)).squeeze(-1)
    kept = probs * (mass < p)
    return kept / kept.sum(-1, keepdim=True)
