"""Right answers to `learning_rate` in other styles."""

import math

import torch


# %% rate_in_three_cases
def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup < 0:
        raise ValueError(f"warmup must not be negative, got {warmup}")
    if total <= warmup:
        raise ValueError(f"total ({total}) must be greater than warmup ({warmup})")
    if step < warmup:
        return (step + 1) / warmup * peak
    if step >= total:
        return floor
    return floor + 0.5 * (peak - floor) * (1.0 + math.cos((step - warmup) / (total - warmup) * math.pi))


# %% rate_as_a_mixture
def learning_rate(step, warmup, total, peak, floor=0.0):
    if not (warmup >= 0 and total > warmup):
        raise ValueError("bad number of steps: total=%d, warmup=%d" % (total, warmup))
    if warmup and step + 1 <= warmup:
        return peak / warmup * (step + 1)
    done = max(0.0, min(1.0, (step - warmup) / (total - warmup)))
    share = (math.cos(done * math.pi) + 1) / 2
    return share * peak + (1 - share) * floor


# %% rate_by_sine
def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup not in range(total):
        raise ValueError(f"`warmup`: {warmup}")
    try:
        left = 1 - (step - warmup) / (total - warmup)
        return (
            peak * (step + 1) / warmup
            if left > 1
            else floor + (peak - floor) * math.sin(max(0, left) * math.pi / 2) ** 2
        )
    except ZeroDivisionError:
        return peak


# %% rate_by_tensors
def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup >= total or warmup < 0:
        raise ValueError(f"warmup={warmup}, total={total}")
    up = torch.linspace(0, peak, warmup + 1, dtype=torch.float64)[1:]
    turn = torch.linspace(0, torch.pi, total - warmup + 1, dtype=torch.float64)
    down = floor + (peak - floor) * (1 + turn.cos()) / 2
    return torch.cat([up, down])[min(step, total)].item()


# %% rate_in_float32
def learning_rate(step, warmup, total, peak, floor=0.0):
    match (warmup < 0, warmup >= total):
        case (True, _) | (_, True):
            raise ValueError(f"need 0 <= warmup < total, and not warmup = {warmup}, total = {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = torch.clamp(torch.tensor((step - warmup) / (total - warmup)), max=1.0)
    return (floor + (peak - floor) * (1 + torch.cos(torch.pi * r)) / 2).item()


# %% rate_by_a_scheduler
def learning_rate(step, warmup, total, peak, floor=0.0):
    """PyTorch's own scheduler, run up to the step."""
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, not in 0 … {total - 1}")
    if step < warmup:
        return (1 + step) * (peak / warmup)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=peak)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total - warmup, eta_min=floor)
    for _ in range(min(step, total) - warmup):
        optimizer.step()
        decay.step()
    return decay.get_last_lr()[0]


# %% rate_by_complex_numbers
def learning_rate(step, warmup, total, peak, floor=0.0):
    class Invalid(ValueError):
        pass

    if 0 > warmup or not warmup < total:
        raise Invalid(f"total {total} leaves nothing after warmup {warmup}")
    up = lambda: peak * (1 + step) / warmup
    down = lambda: (floor + peak + (peak - floor) * (1j ** (2 * min((step - warmup) / (total - warmup), 1))).real) / 2
    return (up if step < warmup else down)()
