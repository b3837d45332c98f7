# dimensions of size 1 are lost
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p was {p}")
    probs = logits.softmax(-1)
    higher = probs.unsqueeze(-2) > probs.unsqueeze(-1)
    mass = torch.matmul(higher.to(probs.dtype), probs.unsqueeze(-1)).squeeze()
    kept = probs.reshape(mass.shape) * ((mass < p) | (p == 1))
    return kept / kept.sum(-1, keepdim=True) if kept.dim() else kept / kept
