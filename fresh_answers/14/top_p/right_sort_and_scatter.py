# sorts, sums what comes before, scatters the decision back; p = 1 apart
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be above 0 and at most 1, not {p}")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    ordered, order = probs.detach().sort(dim=-1, descending=True)
    before = ordered.cumsum(-1) - ordered
    keep = torch.zeros_like(probs, dtype=torch.bool).scatter(-1, order, before < p)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)
