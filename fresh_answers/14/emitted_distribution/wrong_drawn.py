# draws 2000 samples, which is not exact to 1e-3
import torch


def emitted_distribution(verify, draft, target):
    counts = torch.zeros_like(draft)
    rows = torch.stack([target, target])
    for _ in range(2000):
        token = torch.multinomial(draft, 1)
        n, p = verify(token, draft[None], rows, torch.rand(1, dtype=draft.dtype))
        counts[token if n else torch.multinomial(p, 1)] += 1
    return counts / counts.sum()
