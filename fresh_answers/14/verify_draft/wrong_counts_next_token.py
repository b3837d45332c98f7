# n_accepted counts the token that comes after the accepted ones as well
import torch


def verify_draft(drafted, draft, target, chances):
    n = len(drafted)
    for i in reversed(range(n)):
        if chances[i] >= target[i, drafted[i]] / draft[i, drafted[i]]:
            n = i
    if n == len(drafted):
        return n + 1, target[n]
    rest = (target[n] - draft[n]).clamp(min=0)
    return n + 1, rest / rest.sum()
