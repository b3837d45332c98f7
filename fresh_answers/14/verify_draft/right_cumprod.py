# no loop: a running product of the decisions; a row of zeros stands behind the draft
import torch


def verify_draft(drafted, draft, target, chances):
    at = drafted.unsqueeze(1)
    ratio = target[:-1].gather(1, at) / draft.gather(1, at)
    accepted = chances < ratio.squeeze(1)
    n = int(accepted.long().cumprod(0).sum())
    padded = torch.cat([draft, torch.zeros_like(draft[:1])])
    rest = (target[n] - padded[n]).relu()
    return n, rest if n == len(drafted) else rest / rest.sum()
