# a matrix with ones at the entries that count
import torch


def induction_score(weights, period):
    T = weights.shape[-1]
    if period not in range(1, T):
        raise ValueError(f"a period of {period} in {T} positions")
    i, j = torch.meshgrid(*[torch.arange(T, device=weights.device)] * 2, indexing="ij")
    chosen = ((i - j == period - 1) & (i >= period)).to(weights.dtype)
    return torch.einsum("...ij,ij->...", weights, chosen) / (T - period)
