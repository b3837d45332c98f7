"""Right answers to `min_p` in other styles."""

import torch
import torch.nn.functional as F


# %% divided_by_the_sum
def min_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"p must be from 0 to 1, got {p}")
    probabilities = F.softmax(logits, dim=-1)
    bound = p * probabilities.max(dim=-1, keepdim=True).values
    kept = probabilities * (probabilities >= bound)
    return kept / kept.sum(dim=-1, keepdim=True)


# %% in_the_logits
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p: {p}")
    bound = logits.amax(-1, True) + torch.tensor(float(p)).log().item()
    return torch.softmax(logits.masked_fill(logits < bound, -torch.inf), -1)


# %% one_row_after_another
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError("p is %s" % p)
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        probabilities = row.softmax(0)
        kept = torch.stack([q if q >= p * probabilities.max() else 0 * q for q in probabilities])
        rows.append(kept / kept.sum())
    return torch.stack(rows).reshape(logits.shape)


# %% sorted_and_put_back
def min_p(logits, p):
    if not (p >= 0 and p <= 1):
        raise ValueError(f"p = {p}")
    ordered, order = torch.softmax(logits, -1).sort(-1, descending=True)
    kept = torch.where(ordered / ordered[..., :1] < p, 0.0, ordered)
    return torch.zeros_like(logits).scatter(-1, order, F.normalize(kept, p=1, dim=-1))


# %% log_softmax_twice
def min_p(logits, p):
    if 0 <= p <= 1:
        logs = logits.log_softmax(dim=-1)
        far = (logs - logs.max(dim=-1, keepdim=True)[0]).exp() < p
        return torch.where(far, float("-inf"), logs).log_softmax(dim=-1).exp()
    raise ValueError(f"p is {p}; it must be in [0, 1]")


# %% ratios_to_the_largest
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}")
    ratios = torch.exp(logits - logits.max(dim=-1, keepdim=True).values)
    ratios = ratios - ratios * (ratios < p)
    return ratios / ratios.sum(-1).unsqueeze(-1)
