# the frequencies go down to 1 / base itself, as the last pair counts as dim
import torch


def rope_frequencies(dim, base=10000.0):
    if dim % 2:
        raise ValueError(f"dim must be even, got {dim}")
    exponents = torch.linspace(0, 1, dim // 2)
    return float(base) ** -exponents
