# the module bisect looks among 4096 chances; matrices put the parts together
import bisect

import torch


def emitted_distribution(verify, draft, target):
    draft, target = draft.detach(), target.detach()
    size, steps = len(draft), 4096
    two = torch.cat([target.view(1, -1), torch.eye(size, dtype=target.dtype, device=target.device)[:1]])

    def ask(token, k):
        chance = torch.full((1,), (k + 0.5) / steps, dtype=draft.dtype, device=draft.device)
        return verify(torch.full((1,), token, device=draft.device), draft.view(1, -1), two, chance)

    share = torch.zeros_like(draft)
    rest = torch.zeros(size, size, dtype=draft.dtype, device=draft.device)
    for token in range(size):
        if draft[token] == 0:
            continue
        first = bisect.bisect_left(range(steps), True, key=lambda k: ask(token, k)[0] == 0)
        share[token] = first / steps
        if first < steps:
            rest[token] = ask(token, steps - 1)[1].detach()
    return draft * share + (draft * (1 - share)) @ rest
