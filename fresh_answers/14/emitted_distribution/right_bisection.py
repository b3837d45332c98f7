# halves the interval of chances for each drafted token
import torch


def emitted_distribution(verify, draft, target):
    emitted = torch.zeros_like(draft, requires_grad=False)
    with torch.no_grad():
        rows = torch.stack([target, target])
        for token in range(draft.numel()):
            if draft[token] <= 0:
                continue
            low, high, instead = 0.0, 1.0, None
            for _ in range(16):
                middle = (low + high) / 2
                accepted, other = verify(torch.tensor([token], device=draft.device), draft[None], rows, draft.new_tensor([middle]))
                if accepted:
                    low = middle
                else:
                    high, instead = middle, other
            share = 1.0 if instead is None else low
            emitted[token] += draft[token] * share
            if instead is not None:
                emitted += draft[token] * (1 - share) * instead
    return emitted.detach()
