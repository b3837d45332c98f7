# %% wrong: gradient_of_blocked | where hands the blocked score through unchanged, so that its gradient is 1 instead of 0.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be positive, got cap = {cap}")
    return torch.where(torch.isneginf(scores), scores, cap * torch.tanh(scores / cap))

# %% wrong: inf_becomes_minus_cap | A score of -inf becomes -cap, so that a blocked position gets a weight again.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap = {cap} is not positive")
    return cap * torch.tanh(scores / cap)

# %% wrong: sigmoid_range | Sigmoid is used in place of tanh, so the scores lie between 0 and cap.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    blocked = scores == float("-inf")
    safe = scores.masked_fill(blocked, 0.0)
    return (cap * torch.sigmoid(safe / cap)).masked_fill(blocked, float("-inf"))

# %% wrong: clamp | Scores are cut off hard at ±cap.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive: {cap}")
    hard = scores.clamp(min=-cap, max=cap)
    return hard.masked_fill(scores.isneginf(), -math.inf)

# %% wrong: zero_cap_passes | A cap of 0 is let through: only negative ones raise.
def soft_cap(scores, cap):
    if cap < 0:
        raise ValueError("cap must be greater than 0, got %s" % cap)
    m = torch.isneginf(scores)
    x = torch.where(m, torch.zeros_like(scores), scores)
    return torch.where(m, scores.detach(), cap * torch.tanh(x / cap))

# %% wrong: no_division | The scores are not divided by the cap inside tanh.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap={cap}")
    m = scores == -math.inf
    return torch.tanh(scores.masked_fill(m, 0)).mul(cap).masked_fill(m, -math.inf)

# %% wrong: not_multiplied_back | The result of tanh is not multiplied by the cap, so all scores lie in (-1, 1).
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap has to be positive, not {cap}")
    m = scores == -math.inf
    y = torch.tanh(torch.where(m, 0.0, scores) / cap)
    return y.masked_fill(m, -math.inf)

# %% wrong: assertion | An assert refuses the bad cap, so the error is an AssertionError.
def soft_cap(scores, cap):
    assert cap > 0, f"cap must be > 0, got {cap}"
    m = scores.isneginf()
    return (cap * torch.tanh(scores.masked_fill(m, 0.0) / cap)).masked_fill(m, float("-inf"))

# %% wrong: in_place_fill | The blocked scores of the caller are overwritten with 0 in place.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    m = scores == -math.inf
    with torch.no_grad():
        scores.masked_fill_(m, 0.0)
    return (cap * torch.tanh(scores / cap)).masked_fill(m, -math.inf)

# %% wrong: finite_stand_in | A blocked score becomes the smallest finite number of the dtype instead of -inf.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    blocked = scores.isneginf()
    out = cap * torch.tanh(scores.masked_fill(blocked, 0.0) / cap)
    return out.masked_fill(blocked, torch.finfo(scores.dtype).min)

# %% wrong: message_without_argument | The error does not say which argument is wrong, nor its value.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError("must be a positive number")
    blocked = scores == float("-inf")
    out = torch.tanh(scores.masked_fill(blocked, 0.0) / cap) * cap
    return torch.where(blocked, torch.full_like(out, float("-inf")), out)

# %% wrong: exponentials_overflow | tanh is written with exponentials, which overflow for large scores and give NaN.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    m = scores == -math.inf
    z = scores.masked_fill(m, 0.0) / cap
    t = (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))
    return (cap * t).masked_fill(m, -math.inf)

# %% wrong: only_above_cap | Only scores beyond the cap are bent; those within it stay as they are.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    m = scores == -math.inf
    z = scores.masked_fill(m, 0.0)
    y = torch.where(z.abs() > cap, cap * torch.tanh(z / cap), z)
    return y.masked_fill(m, -math.inf)

# %% wrong: numpy_detour | The result is computed with NumPy and has no gradient.
import numpy as np
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    a = scores.detach().cpu().numpy()
    y = np.where(np.isneginf(a), a, cap * np.tanh(a / cap)).astype(a.dtype)
    return torch.as_tensor(y, device=scores.device)

# %% wrong: row_all_or_nothing | A row that holds any -inf is left uncapped altogether.
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap must be positive, got {cap}")
    has = scores.isneginf().any(-1, keepdim=True) if scores.dim() else scores.isneginf()
    safe = scores.masked_fill(scores.isneginf(), 0.0)
    return torch.where(has, scores, cap * torch.tanh(safe / cap))

# %% right: masked_fill_twice
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be greater than 0, got {cap}")
    blocked = scores == -math.inf
    safe = scores.masked_fill(blocked, 0.0)
    return (cap * torch.tanh(safe / cap)).masked_fill(blocked, -math.inf)

# %% right: sigmoid_identity
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"the argument cap must be positive: {cap}")
    gone = torch.isneginf(scores)
    z = torch.where(gone, torch.zeros_like(scores), scores)
    y = cap * (2 * torch.sigmoid(2 * z / cap) - 1)
    return torch.where(gone, torch.full_like(scores, -math.inf), y)

# %% right: index_only_finite
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError("cap = %r is not > 0" % (cap,))
    keep = scores != -math.inf
    out = torch.full_like(scores, -math.inf)
    return out.masked_scatter(keep, cap * torch.tanh(scores[keep] / cap))

# %% right: additive_mask
def soft_cap(scores, cap):
    if cap <= 0:
        raise ValueError(f"cap: {cap}")
    add = torch.zeros_like(scores).masked_fill(scores.isneginf(), -math.inf)
    low = scores.isneginf()
    return torch.where(low, 0.0, scores).div(cap).tanh().mul(cap) + add.detach()

# %% right: autograd_function
class _Cap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s, cap):
        t = torch.tanh(s / cap)
        ctx.save_for_backward(t)
        return torch.where(s.isneginf(), s, cap * t)
    @staticmethod
    def backward(ctx, g):
        (t,) = ctx.saved_tensors
        return g * (1 - t * t), None

def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be positive, not {cap}")
    return _Cap.apply(scores, cap)
