# verify gets drafted and chances without a dimension, (), and not (1,)
import torch


def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(draft)
    for i in range(len(draft)):
        if draft[i] == 0:
            continue
        for k in range(1000):
            n, rest = verify(torch.tensor(i), draft[None], torch.stack([target, target]), draft.new_tensor(k / 1000 + 5e-4))
            out += draft[i] / 1000 * (torch.eye(len(draft), dtype=draft.dtype)[i] if n else rest)
    return out
