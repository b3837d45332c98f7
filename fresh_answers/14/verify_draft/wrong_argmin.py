# the first rejection is found with argmin, which is 0 if there is none
import torch


def verify_draft(drafted, draft, target, chances):
    at = drafted.view(-1, 1)
    ok = chances < (target[:len(drafted)].gather(1, at) / draft.gather(1, at)).view(-1)
    n = int(ok.int().argmin())
    if n == len(drafted):
        return n, target[n]
    rest = (target[n] - draft[n]).clamp(min=0)
    return n, rest / rest.sum()
