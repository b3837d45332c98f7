# %% wrong: truncated | The quotients are cut off towards zero by the conversion to int8 instead of rounded.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 127
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return (x / safe).clamp(-127, 127).to(torch.int8), scale

# %% wrong: maximum_held_up | The largest value is held above 1e-12 to avoid 0/0, so the scale of zeros is not 0, and tiny numbers lose their codes.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim=dim, keepdim=True).clamp(min=1e-12) / 127
    return torch.round(x / scale).to(torch.int8), scale

# %% wrong: divides_by_128 | The scale is the largest absolute value divided by 128, the size of the int8 range.
def quantize(x, dim):
    with torch.no_grad():
        m = torch.amax(torch.abs(x), dim, keepdim=True)
        scale = m / 128
        q = torch.where(m > 0, x / torch.where(m > 0, scale, 1.0), torch.zeros_like(x))
        return q.round().clamp(-128, 127).to(torch.int8), scale

# %% wrong: largest_not_absolute | The largest value is taken without its absolute value, so large negative numbers are cut off.
def quantize(x, dim):
    x = x.detach()
    scale = x.amax(dim, keepdim=True).clamp(min=0) / 127
    safe = scale.masked_fill(scale == 0, 1)
    return (x / safe).round().clamp(-127, 127).to(torch.int8), scale

# %% wrong: kept_dimension_misread | dim is taken as the dimension that keeps its own scales, and the maximum runs over all the others.
def quantize(x, dim):
    x = x.detach()
    keep = {d % x.ndim for d in ((dim,) if isinstance(dim, int) else dim)}
    over = tuple(d for d in range(x.ndim) if d not in keep)
    m = x.abs().amax(over, keepdim=True) if over else x.abs()
    scale = m / 127
    return torch.round(x / scale.masked_fill(scale == 0, 1)).to(torch.int8), scale

# %% wrong: zero_point | An asymmetric range from the smallest to the largest value is used, as in ONNX and TFLite.
def quantize(x, dim):
    x = x.detach()
    lo, hi = x.amin(dim, keepdim=True), x.amax(dim, keepdim=True)
    scale = (hi - lo) / 254
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    codes = torch.where(scale == 0, torch.zeros_like(x), (x - lo) / safe - 127)
    return codes.round().clamp(-127, 127).to(torch.int8), scale

# %% wrong: inverse_scale_returned | The factor 127 / max that makes the codes is returned, not the step that turns codes into numbers.
def quantize(x, dim):
    x = x.detach()
    m = x.abs().amax(dim, keepdim=True)
    factor = torch.where(m > 0, 127 / m.clamp(min=1e-35), torch.zeros_like(m))
    return (x * factor).round().to(torch.int8), factor

# %% wrong: dim_dropped | The reduced dimension is removed from the scale instead of kept with size 1.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 127
    safe = torch.where(scale > 0, scale, torch.ones_like(scale))
    codes = (x / safe).round().to(torch.int8)
    return codes, x.abs().amax(dim) / 127

# %% wrong: int_dim_only | torch.max takes a single dimension, so a tuple of dimensions fails.
def quantize(x, dim):
    x = x.detach()
    scale = torch.max(x.abs(), dim=dim, keepdim=True).values / 127
    safe = scale.masked_fill(scale == 0, 1.0)
    return (x / safe).round().to(torch.int8), scale

# %% wrong: scale_keeps_graph | The scale is still connected to x in the graph and has a gradient.
def quantize(x, dim):
    scale = x.abs().amax(dim, keepdim=True) / 127
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.round(x / safe).to(torch.int8), scale

# %% wrong: half_scale | The scale is stored in float16 to save memory, so it has not the dtype of x.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 127
    codes = torch.round(x / scale.masked_fill(scale == 0, 1)).to(torch.int8)
    return codes, scale.half()

# %% wrong: int32_codes | The codes are left as int32.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True).div(127)
    safe = scale + (scale == 0).to(scale.dtype)
    return x.div(safe).round().int(), scale

# %% wrong: eps_added_to_scale | A small number is added to every scale against division by zero, which spoils the codes of small numbers.
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 127
    return torch.round(x / (scale + 1e-8)).to(torch.int8), scale

# %% wrong: first_of_tuple | Of a tuple of dimensions only the first one is reduced.
def quantize(x, dim):
    x = x.detach()
    d = dim[0] if isinstance(dim, (tuple, list)) else dim
    largest = x.abs().max(dim=d, keepdim=True)[0]
    scale = largest / 127
    return torch.round(x / torch.where(scale == 0, 1, scale)).to(torch.int8), scale

# %% wrong: in_place_division | The caller's tensor is divided and rounded in place.
def quantize(x, dim):
    with torch.no_grad():
        scale = x.abs().amax(dim, keepdim=True) / 127
        x /= scale.masked_fill(scale == 0, 1)
        return x.round_().to(torch.int8), scale

# %% right: where
def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim, keepdim=True) / 127
    safe = torch.where(scale == 0, torch.ones_like(scale), scale)
    return torch.round(x / safe).to(torch.int8), scale

# %% right: nan_to_num
@torch.no_grad()
def quantize(x, dim):
    scale = torch.linalg.vector_norm(x, ord=float("inf"), dim=dim, keepdim=True) / 127
    return (x / scale).nan_to_num(0.0).round().clamp(-127, 127).to(torch.int8), scale

# %% right: loop_over_dims
def quantize(x, dim):
    dims = [dim] if isinstance(dim, int) else list(dim)
    x = x.detach()
    m = x.abs()
    for d in dims:
        m = m.max(d, keepdim=True).values
    scale = m / 127
    return (x / scale.masked_fill(m == 0, 1.0)).round().char(), scale

# %% right: min_and_max
def quantize(x, dim):
    y = x.detach()
    top = torch.maximum(y.amax(dim, keepdim=True), -y.amin(dim, keepdim=True))
    step = top / 127.0
    codes = torch.zeros(y.shape, dtype=torch.int8, device=y.device)
    alive = (step > 0).expand_as(y)
    codes[alive] = (y[alive] / step.expand_as(y)[alive]).round().to(torch.int8)
    return codes, step

# %% right: double_inside
def quantize(x, dim):
    with torch.no_grad():
        scale = x.abs().amax(dim=dim, keepdim=True) / 127
        d = scale.double()
        codes = torch.where(d > 0, x.double() / d.masked_fill(d == 0, 1), 0.0)
        return torch.round(codes).to(torch.int8), scale
