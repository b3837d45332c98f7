# float64 distributions come back as float32
import torch


def verify_draft(drafted, draft, target, chances):
    draft, target = draft.float(), target.float()
    for i, t in enumerate(drafted.tolist()):
        if chances[i] >= target[i, t] / draft[i, t]:
            rest = (target[i] - draft[i]).relu()
            return i, rest / rest.sum()
    return len(drafted), target[-1]
