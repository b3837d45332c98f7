# next over a generator, and Python floats for the decisions
import torch


def verify_draft(drafted, draft, target, chances):
    tokens, luck = drafted.tolist(), chances.tolist()
    rejected = next((i for i, t in enumerate(tokens) if luck[i] >= float(target[i][t]) / float(draft[i][t])), None)
    if rejected is None:
        return len(tokens), target[-1]
    surplus = torch.where(target > torch.cat([draft, target[-1:]]), target - torch.cat([draft, target[-1:]]), target * 0)
    return rejected, surplus[rejected] / surplus[rejected].sum()
