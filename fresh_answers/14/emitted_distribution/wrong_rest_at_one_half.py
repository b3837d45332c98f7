# the distribution after a rejection is asked for at the chance 0.5, where the token may be accepted
import torch


def emitted_distribution(verify, draft, target):
    second = torch.zeros_like(target)
    second[0] = 1
    rows = torch.stack([target, second])
    out = torch.zeros_like(draft)
    for token in draft.nonzero().view(-1):
        def call(c):
            return verify(token.view(1), draft.view(1, -1), rows, draft.new_tensor([c]))

        low, high = 0.0, 1.0
        while high - low > 1e-4:
            m = (low + high) / 2
            low, high = (m, high) if call(m)[0] else (low, m)
        low = 1.0 if high == 1.0 else low
        out[token] += draft[token] * low
        out += draft[token] * (1 - low) * call(0.5)[1]
    return out
