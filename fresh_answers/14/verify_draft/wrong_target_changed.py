# the target is changed in place at the rejected row
import torch


def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        token = drafted[i].item()
        if chances[i].item() >= (target[i, token] / draft[i, token]).item():
            rest = target[i].sub_(draft[i]).clamp_(min=0)
            return i, rest / rest.sum()
    return len(drafted), target[len(drafted)]
