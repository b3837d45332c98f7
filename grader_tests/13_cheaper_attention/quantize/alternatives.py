"""Right answers to `quantize` in other styles."""

import torch


# %% the_zeros_replaced
def quantize(x, dim):
    with torch.no_grad():
        scale = x.abs().amax(dim=dim, keepdim=True) / 127
        divisor = torch.where(scale == 0, torch.ones_like(scale), scale)
        return torch.round(x / divisor).to(torch.int8), scale


# %% nan_to_num
def quantize(x, dim):
    x = x.detach()
    scale = torch.amax(torch.abs(x), dim, keepdim=True) / 127.0
    return torch.nan_to_num(x / scale, nan=0.0).round().clamp(-127, 127).to(torch.int8), scale


# %% one_dimension_after_another
def quantize(x, dim):
    largest = x.detach().abs()
    for d in [dim] if isinstance(dim, int) else dim:
        largest = largest.max(d, keepdim=True).values
    scale = largest / 127
    codes = x.detach() / scale.masked_fill(scale == 0, 1.0)
    return codes.round().char(), scale


# %% by_the_norm
def quantize(x, dim):
    x = x.data
    scale = torch.linalg.vector_norm(x, ord=float("inf"), dim=dim, keepdim=True).div(127)
    empty = scale.eq(0)
    codes = x.div(scale + empty.to(x.dtype))
    return codes.round().type(torch.int8), scale


# %% from_both_ends
@torch.no_grad()
def quantize(x, dim):
    top, bottom = x.amax(dim, keepdim=True), x.amin(dim, keepdim=True)
    scale = torch.maximum(top, bottom.neg()) / 127
    codes = torch.zeros_like(x, dtype=torch.int8)
    used = (scale > 0).expand_as(x)
    codes[used] = torch.round((x / scale)[used]).to(torch.int8)
    return codes, scale


# %% moved_to_the_end
def quantize(x, dim):
    x = x.detach()
    dims = sorted(d % x.ndim for d in ([dim] if isinstance(dim, int) else dim))
    others = [d for d in range(x.ndim) if d not in dims]
    rows = x.permute(*others, *dims).flatten(len(others))
    largest = rows.abs().max(-1)[0]
    for d in dims:
        largest = largest.unsqueeze(d)
    scale = largest / 127
    return (x / scale.clamp_min(torch.finfo(x.dtype).tiny)).round().to(torch.int8), scale
