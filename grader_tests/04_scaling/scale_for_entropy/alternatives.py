"""Right answers to `scale_for_entropy` in other styles."""

import torch


# %% by_halving_the_exponent
def scale_for_entropy(scores, nats):
    low = scores.new_full(scores.shape[:-1], -40.0)
    high = -low
    for _ in range(60):
        middle = (low + high) / 2
        weights = torch.softmax(2 ** middle[..., None] * scores, dim=-1)
        too_flat = torch.special.entr(weights).sum(dim=-1) > nats
        low = torch.where(too_flat, middle, low)
        high = torch.where(too_flat, high, middle)
    return 2**low


# %% row_by_row
def scale_for_entropy(scores, nats):
    def too_flat(row, scale):
        log_weights = torch.log_softmax(scale * row, dim=-1)
        return -(log_weights.exp() * log_weights).sum().item() > nats

    found = []
    for row in scores.reshape(-1, scores.shape[-1]):
        scale = 1.0
        factor = 1e8
        while factor > 1.00001:
            scale = scale * factor if too_flat(row, scale) else scale / factor
            factor = factor**0.6
        found.append(scale)
    return torch.tensor(found, dtype=scores.dtype).reshape(scores.shape[:-1])


# %% newton
def scale_for_entropy(scores, nats):
    logarithm = -scores.std(dim=-1).log()
    for _ in range(60):
        scaled = logarithm.exp()[..., None] * scores
        p = torch.softmax(scaled, dim=-1)
        mean = (p * scaled).sum(-1, keepdim=True)
        slope = (p * (scaled - mean) ** 2).sum(-1)
        miss = torch.special.entr(p).sum(-1) - nats
        logarithm = logarithm + (miss / slope.clamp(min=1e-6)).clamp(-0.5, 0.5)
    return logarithm.exp()
