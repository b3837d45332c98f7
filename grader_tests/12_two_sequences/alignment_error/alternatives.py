"""Right answers to `alignment_error` in other styles."""

import torch


# %% alignment_error_of_what_counts
def alignment_error(weights, alignment):
    counts = alignment != -1
    if not counts.any():
        return weights.new_zeros(())
    return (weights.argmax(dim=1)[counts] != alignment[counts]).to(weights.dtype).mean()


# %% alignment_error_by_a_quotient
def alignment_error(weights, alignment):
    known = alignment >= 0
    missed = (weights.max(-1).indices != alignment) & known
    return missed.sum().to(weights) / known.sum().clamp(min=1)


# %% alignment_error_by_a_loop
def alignment_error(weights, alignment):
    wrong, counted = 0, 0
    for row, source in zip(weights.tolist(), alignment.tolist(), strict=True):
        if source < 0:
            continue
        counted += 1
        if row.index(max(row)) != source:
            wrong += 1
    return torch.tensor(wrong / counted if counted else 0.0, dtype=weights.dtype, device=weights.device)


# %% alignment_error_by_comparing_weights
def alignment_error(weights, alignment):
    has = (alignment >= 0).to(weights.dtype)
    there = weights.gather(1, alignment.clamp(min=0)[:, None])[:, 0]
    found = (there >= weights.amax(1)).to(weights.dtype)
    return ((1 - found) * has).sum() / torch.clamp(has.sum(), min=1.0)
