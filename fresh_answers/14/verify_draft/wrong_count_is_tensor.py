# n_accepted is a tensor and not an int
import torch


def verify_draft(drafted, draft, target, chances):
    index = drafted[:, None]
    ok = chances < (target[:-1].gather(1, index) / draft.gather(1, index))[:, 0]
    n = ok.long().cumprod(0).sum()
    if n == len(drafted):
        return n, target[n]
    r = (target[n] - draft[n]).relu()
    return n, r / r.sum()
