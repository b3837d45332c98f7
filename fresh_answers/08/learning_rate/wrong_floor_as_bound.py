# the cosine goes down to 0 and is cut at the floor, in place of going down to the floor
from math import cos, pi


def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or warmup >= total:
        raise ValueError(f"total {total} and warmup {warmup} do not fit")
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = min(1, (step - warmup) / (total - warmup))
    return float(max(floor, peak * 0.5 * (1 + cos(pi * progress))))
