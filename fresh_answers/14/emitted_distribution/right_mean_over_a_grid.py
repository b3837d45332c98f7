# the mean over 1000 chances in the middle of equal intervals
import torch


@torch.no_grad()
def emitted_distribution(verify, draft, target):
    n, unit = draft.shape[0], torch.eye(draft.shape[0], dtype=draft.dtype, device=draft.device)
    second = torch.full_like(target, 1 / n)
    result = torch.zeros_like(target)
    for token in draft.nonzero().flatten().tolist():
        mean = torch.zeros_like(target)
        for k in range(1000):
            count, rest = verify(
                torch.tensor([token], device=draft.device),
                draft.reshape(1, n).clone(),
                torch.stack([target, second]),
                torch.tensor([(k + 0.5) / 1000], dtype=draft.dtype, device=draft.device),
            )
            mean += unit[token] if count == 1 else rest
        result += draft[token] * mean / 1000
    return result
