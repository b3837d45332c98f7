# the square of the cosine of half the angle
import math


def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or not warmup < total:
        raise ValueError(f"warmup is {warmup}; wanted: from 0 to {total - 1}")
    if warmup - step > 0:
        return float(peak) * (step + 1) / warmup
    share = math.cos(math.pi / 2 * min(1.0, (step - warmup) / (total - warmup))) ** 2
    return float(share * peak + (1 - share) * floor)
