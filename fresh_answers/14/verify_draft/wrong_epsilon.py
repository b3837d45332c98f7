# 1e-6 is added to the draft's probability, which changes the ratio where that is tiny
import torch


def verify_draft(drafted, draft, target, chances):
    n = 0
    for t in drafted.tolist():
        if chances[n] >= target[n, t] / (draft[n, t] + 1e-6):
            rest = (target[n] - draft[n]).clamp(min=0)
            return n, rest / rest.sum()
        n += 1
    return n, target[n]
