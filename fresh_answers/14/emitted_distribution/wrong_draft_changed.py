# zeros of the draft are replaced by 1e-9 in the tensor that was given
import torch


def emitted_distribution(verify, draft, target):
    draft[draft == 0] = 1e-9
    n = len(draft)
    one = torch.eye(n, dtype=draft.dtype, device=draft.device)
    out = torch.zeros_like(draft)
    for i in range(n):
        lo, hi, other = 0.0, 1.0, one[i]
        for _ in range(14):
            mid = (lo + hi) / 2
            count, p = verify(torch.tensor([i], device=draft.device), draft[None], torch.stack([target, target]), draft.new_tensor([mid]))
            if count:
                lo = mid
            else:
                hi, other = mid, p
        out += draft[i] * (lo * one[i] + (1 - lo) * other)
    return out
