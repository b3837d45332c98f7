"""Right answers to `mean_log_probability`."""

import torch


# %% one_by_one
def mean_log_probability(step, ids):
    total = 0.0
    for t in range(1, len(ids)):
        total += float(step(ids[:t])[ids[t]])
    return total / (len(ids) - 1)


# %% in_a_tensor
def mean_log_probability(step, ids):
    chosen = torch.stack([step(ids[: t + 1])[token] for t, token in enumerate(ids[1:])])
    return chosen.mean().item()
