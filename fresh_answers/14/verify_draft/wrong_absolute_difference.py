# the absolute difference of both distributions in place of its positive part
import torch


def verify_draft(drafted, draft, target, chances):
    j = 0
    for p, q, t, c in zip(target, draft, drafted.tolist(), chances):
        if not c < p[t] / q[t]:
            d = (p - q).abs()
            return j, d / d.sum()
        j += 1
    return j, target[j]
