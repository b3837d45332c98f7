# counts all tokens that pass, also those after the first rejection
import torch


def verify_draft(drafted, draft, target, chances):
    i = torch.arange(len(drafted))
    ok = chances < target[i, drafted] / draft[i, drafted]
    n = int(ok.sum())
    if bool(ok.all()):
        return n, target[-1]
    first = ok.tolist().index(False)
    rest = (target[first] - draft[first]).clamp(min=0)
    return n, rest / rest.sum()
