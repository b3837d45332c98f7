# a plain loop with a return from inside
import torch


def verify_draft(drafted, draft, target, chances):
    for i, token in enumerate(drafted.tolist()):
        if not chances[i] < target[i, token] / draft[i, token]:
            lack = torch.clamp(target[i] - draft[i], min=0)
            return i, lack / lack.sum()
    return len(drafted), target[len(drafted)].clone()
