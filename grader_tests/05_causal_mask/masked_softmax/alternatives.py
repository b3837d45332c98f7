"""Right answers to `masked_softmax` in other styles."""

import torch
import torch.nn.functional as F


# %% by_masked_fill
def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(filled, dim=-1)


# %% by_adding
def masked_softmax(scores, mask):
    bias = torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    return (scores + bias).softmax(-1)


# %% with_rows_that_are_blocked
def masked_softmax(scores, mask):
    empty = mask.all(dim=-1, keepdim=True)
    seen = scores.masked_fill(mask & ~empty, float("-inf"))
    return torch.softmax(seen, dim=-1).masked_fill(mask, 0.0)


# %% wiping_nan_off_what_was_filled
INF = float("inf")


def masked_softmax(scores, mask):
    filled = torch.where(mask, torch.tensor(-INF, dtype=scores.dtype, device=scores.device), scores)
    return torch.nan_to_num(F.softmax(filled, dim=-1), nan=0.0)


# %% by_hand
def masked_softmax(scores, mask):
    open_ = ~mask.expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(open_, scores, torch.full_like(scores, lowest)).max(dim=-1, keepdim=True).values
    parts = torch.where(open_, scores - top, torch.zeros_like(scores)).exp() * open_
    return parts / parts.sum(dim=-1, keepdim=True).clamp(min=0.5)


# %% with_the_lowest_number
def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    return torch.softmax(filled, dim=-1) * (~mask).to(scores.dtype)


# %% row_by_row
def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape).reshape(-1, scores.shape[-1])
    rows = []
    for row, blocked in zip(scores.reshape(-1, scores.shape[-1]), mask, strict=True):
        weights = torch.zeros_like(row)
        if not blocked.all():
            weights[~blocked] = row[~blocked].softmax(0)
        rows.append(weights)
    return torch.stack(rows).reshape(scores.shape)


# %% with_a_key_that_takes_what_is_left
INF = float("inf")


def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, -INF)
    empty = mask.expand(scores.shape).all(-1, keepdim=True)
    spare = torch.zeros_like(scores[..., :1]).masked_fill(~empty, -INF)
    return torch.softmax(torch.cat([filled, spare], dim=-1), dim=-1)[..., :-1]


# %% through_logarithms
INF = float("inf")


def masked_softmax(scores, mask):
    nothing = mask.all(dim=-1, keepdim=True).expand(*scores.shape[:-1], 1)
    logs = scores.masked_fill(nothing, 0.0).masked_fill(mask & ~nothing, -INF).log_softmax(-1)
    return logs.exp().masked_fill(mask, 0)


# %% with_its_own_way_back
INF = float("inf")


def masked_softmax(scores, mask):
    class Masked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, mask):
            weights = torch.softmax(scores.masked_fill(mask, -INF), dim=-1)
            weights = torch.where(mask, torch.zeros_like(weights), weights)
            ctx.save_for_backward(weights)
            return weights

        @staticmethod
        def backward(ctx, gradient):
            (weights,) = ctx.saved_tensors
            inner = (weights * gradient).sum(-1, keepdim=True)
            return weights * (gradient - inner), None

    return Masked.apply(scores, mask)
