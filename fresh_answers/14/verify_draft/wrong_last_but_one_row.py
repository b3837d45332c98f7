# if all are accepted, the row of the last drafted token comes back and not the one after it
import torch


def verify_draft(drafted, draft, target, chances):
    m = drafted.shape[0]
    for k in range(m):
        w = int(drafted[k])
        if chances[k] < target[k, w] / draft[k, w]:
            continue
        lack = torch.relu(target[k] - draft[k])
        return k, lack / lack.sum()
    return m, target[m - 1]
