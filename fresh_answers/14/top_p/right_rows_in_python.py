# Python floats and one loop over rows find the set; the probabilities are torch's
import torch


def _nucleus(row, p):
    chosen, total = [False] * len(row), 0.0
    for i in sorted(range(len(row)), key=row.__getitem__, reverse=True):
        if p < 1 and total >= p:
            break
        chosen[i] = True
        total += row[i]
    return chosen


def top_p(logits, p):
    if not (p > 0 and p <= 1):
        raise ValueError("cannot keep p = %r of the probability" % p)
    n = logits.shape[-1]
    rows = logits.detach().double().softmax(-1).reshape(-1, n).tolist()
    inside = torch.tensor([_nucleus(row, p) for row in rows], device=logits.device).reshape(logits.shape)
    return logits.where(inside, logits.new_full((), -torch.inf)).softmax(-1)
