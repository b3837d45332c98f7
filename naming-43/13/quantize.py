# %% wrong: divided_by_128 | The largest absolute value is divided by 128 and not by 127, so it is mapped to 128 and has to be cut off.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 128
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    codes = torch.round(x / safe).clamp(-127, 127).to(torch.int8)
    return codes, scale
# %% wrong: no_keepdim | The reduced dimensions are dropped from the scale instead of being kept with size 1.
@torch.no_grad()
def quantize(x, dim):
    m = x.abs().amax(dim=dim, keepdim=True) / 127
    q = torch.where(m > 0, x / m, torch.zeros_like(x)).round().to(torch.int8)
    return q, x.abs().amax(dim=dim) / 127
# %% wrong: unit_scale_for_zeros | Where all numbers are 0 the scale is returned as 1 (to avoid the division by zero) and not as 0.
@torch.no_grad()
def quantize(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127.0
    scale[scale == 0] = 1.0
    return torch.round(x / scale).to(torch.int8), scale
# %% wrong: half_away_from_zero | Ties are rounded away from zero, floor(|x| + 0.5), and not to the even neighbour.
def quantize(x, dim):
    with torch.no_grad():
        scale = x.abs().amax(dim, keepdim=True) / 127
        y = x / scale.masked_fill(scale == 0, 1)
        codes = torch.sign(y) * torch.floor(y.abs() + 0.5)
        return codes.clamp(-127, 127).to(torch.int8), scale
# %% wrong: truncation | The cast to int8 cuts off the fraction; the numbers are not rounded first.
def quantize(x, dim):
    x = x.detach()
    largest = torch.amax(torch.abs(x), dim=dim, keepdim=True)
    scale = largest / 127
    divisor = scale + (scale == 0).to(scale.dtype)
    return (x / divisor).to(torch.int8), scale
# %% wrong: max_without_abs | The largest value is taken without the absolute value, so a large negative number does not count.
@torch.no_grad()
def quantize(x, dim):
    scale = x.amax(dim=dim, keepdim=True).clamp(min=0) / 127
    divisor = torch.where(scale == 0, 1.0, scale)
    return torch.round(x / divisor).clamp(-127, 127).to(torch.int8), scale
# %% wrong: whole_tensor | One scale is taken from the whole tensor; dim is only used for the shape.
@torch.no_grad()
def quantize(x, dim):
    shape = x.abs().amax(dim, keepdim=True).shape
    s = x.abs().max() / 127
    scale = s.expand(shape).clone()
    if s == 0:
        return torch.zeros_like(x, dtype=torch.int8), scale
    return (x / s).round().to(torch.int8), scale
# %% wrong: zero_point | The quantisation is asymmetric: the smallest value goes to -127 and the largest to 127, with an offset, instead of 0 to 0.
@torch.no_grad()
def quantize(x, dim):
    lo = x.amin(dim, keepdim=True)
    hi = x.amax(dim, keepdim=True)
    scale = (hi - lo) / 254
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    mid = (hi + lo) / 2
    codes = torch.round((x - mid) / safe).clamp(-127, 127).to(torch.int8)
    return codes, scale
# %% wrong: clamped_scale | The scale is kept above 1e-8 to avoid a division by zero, so it is not 0 for zeros, and wrong for very small numbers.
def quantize(x, dim):
    x = x.detach()
    scale = (x.abs().amax(dim=dim, keepdim=True) / 127).clamp(min=1e-8)
    codes = (x / scale).round().clamp(-127, 127).to(torch.int8)
    return codes, scale
# %% wrong: gradient_kept | Nothing is detached, so the scale carries a gradient back to x.
def quantize(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127
    y = torch.where(scale == 0, torch.zeros_like(x), x / torch.where(scale == 0, torch.ones_like(scale), scale))
    return y.round().to(torch.int8), scale
# %% wrong: only_int_dim | Only a single dimension is handled: `max` takes no tuple of dimensions.
@torch.no_grad()
def quantize(x, dim):
    values, _ = x.abs().max(dim, keepdim=True)
    scale = values / 127
    div = scale.masked_fill(scale == 0, 1.0)
    return torch.round(x / div).to(torch.int8), scale
# %% wrong: dim_kept_instead | dim is read as the dimensions that keep their own scale, so the maximum is taken over all the others.
@torch.no_grad()
def quantize(x, dim):
    keep = {d % x.ndim for d in ((dim,) if isinstance(dim, int) else dim)}
    others = tuple(d for d in range(x.ndim) if d not in keep)
    top = x.abs()
    for d in others:
        top = top.amax(d, keepdim=True)
    scale = top / 127
    safe = torch.where(scale > 0, scale, torch.ones_like(scale))
    return torch.round(x / safe).to(torch.int8), scale
# %% wrong: scale_always_float32 | The scale is made in float32 whatever the dtype of x is.
@torch.no_grad()
def quantize(x, dim):
    x = x.float()
    scale = x.abs().amax(dim, keepdim=True) / 127
    inv = torch.where(scale == 0, torch.zeros_like(scale), 1 / scale)
    codes = torch.where(scale == 0, 0.0, x / torch.where(scale == 0, 1.0, scale))
    return codes.round().to(torch.int8), scale
# %% wrong: inverse_scale | The factor 127 / max that leads to the codes is returned as scale, and not its inverse, the size of one step.
@torch.no_grad()
def quantize(x, dim):
    biggest = x.abs().amax(dim, keepdim=True)
    zero = biggest == 0
    step = torch.where(zero, torch.ones_like(biggest), biggest / 127)
    codes = torch.round(x / step).to(torch.int8)
    scale = torch.where(zero, torch.zeros_like(step), 1 / step)
    return codes, scale
# %% wrong: in_place | The caller's x is divided and rounded in place.
@torch.no_grad()
def quantize(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127
    x.div_(scale.masked_fill(scale == 0, 1.0)).round_()
    return x.to(torch.int8), scale
# %% right: where
@torch.no_grad()
def quantize(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.round(x / safe).to(torch.int8), scale
# %% right: detached_masked_fill
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim=dim, keepdim=True).div(127)
    codes = x.div(scale).masked_fill(scale == 0, 0).round().clamp(-127, 127)
    return codes.to(dtype=torch.int8), scale
# %% right: nan_to_num
def quantize(x, dim):
    with torch.no_grad():
        scale = torch.linalg.vector_norm(x, ord=float("inf"), dim=dim, keepdim=True) / 127
        ratio = torch.nan_to_num(x / scale, nan=0.0)
        return torch.round(ratio).clamp_(-127, 127).to(torch.int8), scale
# %% right: one_dim_after_another
@torch.no_grad()
def quantize(x, dim):
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    largest = x.abs()
    for d in dims:
        largest = largest.max(dim=d, keepdim=True).values
    scale = largest / 127
    codes = torch.zeros(x.shape, dtype=torch.int8, device=x.device)
    full = scale.expand_as(x)
    alive = full > 0
    codes[alive] = torch.round(x[alive] / full[alive]).to(torch.int8)
    return codes, scale
# %% right: min_and_max
@torch.no_grad()
def quantize(x, dim):
    top = torch.maximum(x.amax(dim, keepdim=True), -x.amin(dim, keepdim=True))
    scale = top / 127
    y = x / (scale + (scale == 0))
    lower = y.floor()
    frac = y - lower
    up = (frac > 0.5) | ((frac == 0.5) & (lower % 2 != 0))
    return (lower + up).to(torch.int8), scale
