# what the target lacks and not what the draft lacks
import torch


def verify_draft(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] >= target[i, t] / draft[i, t]:
            rest = torch.clamp(draft[i] - target[i], 0)
            return i, rest / rest.sum()
    return len(drafted), target[-1]
