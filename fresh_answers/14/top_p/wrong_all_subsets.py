# tries sets of tokens one after the other, which does not end for a vocabulary of 50 and p = 0.9
import itertools

import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p={p}, not in (0, 1]")
    n = logits.shape[-1]
    keep = torch.ones_like(logits, dtype=torch.bool)
    if p < 1:
        flat = keep.view(-1, n)
        for r, row in enumerate(logits.detach().reshape(-1, n).double().softmax(-1).tolist()):
            order = sorted(range(n), key=lambda i: -row[i])
            sets = itertools.chain.from_iterable(itertools.combinations(order, k) for k in range(1, n + 1))
            best = next(s for s in sets if sum(row[i] for i in s) >= p)
            flat[r] = torch.tensor([i in best for i in range(n)])
    return logits.masked_fill(~keep, -torch.inf).softmax(-1)
