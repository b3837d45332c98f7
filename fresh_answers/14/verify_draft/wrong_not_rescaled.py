# after a rejection the probabilities are not divided by their sum
import torch


def verify_draft(drafted, draft, target, chances):
    for n, token in enumerate(drafted.tolist()):
        if float(chances[n]) >= float(target[n, token] / draft[n, token]):
            return n, torch.maximum(target[n] - draft[n], torch.zeros_like(draft[n]))
    return n + 1, target[n + 1]
