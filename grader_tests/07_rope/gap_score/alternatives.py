"""Right answers to `gap_score`."""

import torch


# %% with_turned_pairs
def gap_score(q, k, m, n):
    def placed(x, position):
        angles = position * 10000.0 ** (-torch.arange(0, len(x), 2) / len(x))
        even, odd = x[0::2], x[1::2]
        return torch.cat([even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()])

    return placed(q, m) @ placed(k, n)
