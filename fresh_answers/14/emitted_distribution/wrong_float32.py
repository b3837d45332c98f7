# the result is float32 for float64 distributions
import torch


def emitted_distribution(verify, draft, target):
    answer = torch.zeros(draft.shape[0], device=draft.device)
    for i in range(draft.shape[0]):
        q = float(draft[i])
        if q == 0:
            continue
        lo, hi, p = 0.0, 1.0, None
        for _ in range(13):
            mid = (lo + hi) / 2
            n, r = verify(torch.tensor([i], device=draft.device), draft[None, :], torch.stack([target, target]), draft.new_tensor([mid]))
            if n > 0:
                lo = mid
            else:
                hi, p = mid, r
        if p is None:
            lo = 1.0
        else:
            answer += (q * (1 - lo) * p).float()
        answer[i] += q * lo
    return answer
