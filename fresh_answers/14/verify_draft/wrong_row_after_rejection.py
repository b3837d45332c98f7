# the rest is taken from the row after the rejected one
import torch


def verify_draft(drafted, draft, target, chances):
    m = len(drafted)
    for i in range(m):
        t = drafted[i]
        if chances[i] >= target[i, t] / draft[i, t]:
            rest = (target[i + 1] - draft[min(i + 1, m - 1)]).clamp(min=0)
            return i, rest / rest.sum()
    return m, target[m]
