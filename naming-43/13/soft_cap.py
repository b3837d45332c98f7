# %% wrong: hard_clamp | The scores are cut off hard at ±cap (clamp) instead of bent smoothly by tanh.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    capped = scores.clamp(-cap, cap)
    return capped.masked_fill(scores == float("-inf"), float("-inf"))
# %% wrong: no_division | The scores are not divided by cap inside the tanh, so it saturates around 1 whatever the cap is.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be positive, not {cap}")
    y = cap * torch.tanh(scores)
    return torch.where(torch.isneginf(scores), torch.full_like(y, -math.inf), y)
# %% wrong: no_multiplication | The result of tanh is not multiplied by cap again, so all scores end in -1 … 1.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError("cap=%s is not positive" % cap)
    blocked = scores == -math.inf
    s = scores.masked_fill(blocked, 0.0) / cap
    return s.tanh().masked_fill(blocked, -math.inf)
# %% wrong: neg_inf_becomes_minus_cap | A score of -inf comes out as -cap, so blocked positions get weight again.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap has to be greater than 0, but is {cap}")
    return cap * torch.tanh(scores / cap)
# %% wrong: zero_cap_allowed | The check is for cap < 0 and lets cap = 0 through, which divides by zero.
def soft_cap(scores, cap):
    if cap < 0:
        raise ValueError(f"cap must not be negative: cap={cap}")
    out = torch.tanh(scores / cap) * cap
    return out.masked_fill(torch.isneginf(scores), float("-inf"))
# %% wrong: no_check | cap is not checked at all, and a negative cap silently gives an answer.
def soft_cap(scores, cap):
    out = cap * torch.tanh(scores / cap)
    return out.masked_fill(scores == -torch.inf, -torch.inf)
# %% wrong: grad_one_at_neg_inf | At -inf the score itself is passed on (torch.where), so its gradient there is 1 and not 0.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0 (cap={cap})")
    return torch.where(scores == -math.inf, scores, cap * torch.tanh(scores / cap))
# %% wrong: in_place | The caller's scores are changed in place.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be greater than zero, got cap={cap}")
    blocked = torch.isneginf(scores)
    scores /= cap
    scores = torch.tanh(scores) * cap
    scores[blocked] = float("-inf")
    return scores
# %% wrong: handmade_tanh_overflows | tanh is made from exp(x) and exp(-x), which overflow for large scores and give inf/inf = NaN.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    hidden = scores == float("-inf")
    x = scores.masked_fill(hidden, 0) / cap
    e, f = torch.exp(x), torch.exp(-x)
    return (cap * (e - f) / (e + f)).masked_fill(hidden, float("-inf"))
# %% wrong: only_large_scores | Only scores beyond the cap are put through tanh; the smaller ones are left as they are, and the function jumps at the cap.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be positive, got {cap}")
    blocked = torch.isneginf(scores)
    s = scores.masked_fill(blocked, 0)
    s = torch.where(s.abs() > cap, cap * torch.tanh(s / cap), s)
    return s.masked_fill(blocked, float("-inf"))
# %% wrong: zero_times_inf | -inf is put back by adding mask * -inf, and 0 * -inf is NaN at all other scores.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    mask = (scores == float("-inf")).to(scores.dtype)
    return cap * torch.tanh(scores / cap) + mask * float("-inf")
# %% wrong: no_gradient | The result is built from plain Python numbers, so no gradient flows back to the scores.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    flat = []
    for s in scores.reshape(-1).tolist():
        if s == -math.inf:
            flat.append(-math.inf)
        else:
            flat.append(cap * math.tanh(s / cap))
    return torch.tensor(flat, dtype=scores.dtype, device=scores.device).reshape(scores.shape)
# %% wrong: finite_minimum | -inf is replaced by the smallest finite number of the dtype and does not stay -inf.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    y = torch.tanh(scores / cap).mul(cap)
    return y.masked_fill(scores.isinf() & (scores < 0), torch.finfo(scores.dtype).min)
# %% wrong: assert_instead_of_valueerror | A bad cap raises AssertionError and not ValueError.
def soft_cap(scores, cap):
    assert cap > 0, f"cap must be > 0, got {cap}"
    masked = scores == float("-inf")
    return torch.where(masked, float("-inf"), cap * torch.tanh(scores / cap))
# %% wrong: softsign | The scores are squashed by x / (1 + |x|/cap) and not by tanh: the same limits, but another curve.
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    blocked = torch.isneginf(scores)
    s = scores.masked_fill(blocked, 0)
    return (s / (1 + s.abs() / cap)).masked_fill(blocked, -math.inf)
# %% right: masked_fill
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    return (cap * torch.tanh(scores / cap)).masked_fill(scores == -math.inf, -math.inf)
# %% right: zero_then_fill
def soft_cap(scores, cap):
    if cap > 0:
        blocked = torch.isneginf(scores)
        safe = scores.masked_fill(blocked, 0.0)
        return cap * (safe / cap).tanh() + torch.zeros_like(safe).masked_fill(blocked, -math.inf)
    raise ValueError(f"cap = {cap} is not greater than 0")
# %% right: sigmoid
def soft_cap(scores, cap):
    if not (cap > 0):
        raise ValueError(f"expected cap > 0 but cap is {cap}")
    bounded = cap * (2 * torch.sigmoid(2 * scores / cap) - 1)
    return torch.where(scores == float("-inf"), torch.full_like(scores, float("-inf")), bounded)
# %% right: index_put
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be positive: {cap}")
    result = torch.tanh(scores.div(cap)).mul(cap)
    result = result.clone()
    result[torch.isneginf(scores)] = -torch.inf
    return result
# %% right: autograd_function
class _SoftCap(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, cap):
        t = torch.tanh(scores / cap)
        ctx.save_for_backward(t)
        return torch.where(scores == -math.inf, scores, cap * t)
    @staticmethod
    def backward(ctx, grad):
        t, = ctx.saved_tensors
        return grad * (1 - t * t), None
def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be > 0, got {cap}")
    return _SoftCap.apply(scores, cap)
