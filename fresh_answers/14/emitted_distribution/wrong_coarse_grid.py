# only 20 chances are tried, so the result is exact to a few hundredths
import torch


def emitted_distribution(verify, draft, target):
    total = torch.zeros_like(draft)
    for token, q in enumerate(draft.tolist()):
        if not q:
            continue
        for c in torch.linspace(0, 0.95, 20, dtype=draft.dtype):
            n, p = verify(torch.tensor([token]), draft[None], torch.stack([target, target]), c.view(1))
            total += q / 20 * (torch.nn.functional.one_hot(torch.tensor(token), len(draft)) if n else p)
    return total
