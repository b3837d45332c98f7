# every score below -1e9 becomes -inf, finite ones too
import torch


def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap = {cap}")
    gone = scores < -1e9
    capped = (scores.masked_fill(gone, 0.0) / cap).tanh() * cap
    return capped.masked_fill(gone, float("-inf"))
