# %% wrong: scale_without_rope | The scores are divided by √K, although the queries and keys are K + R wide.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        kr = self.rope(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([k, kr], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
# %% wrong: key_not_rotated | The shared key kr is not rotated; only the queries get RoPE.
def _rotate(x, positions):
    """x (..., T, R), pairs (0, 1), (2, 3), ..."""
    R = x.shape[-1]
    if R == 0:
        return x
    angles = positions.to(torch.float64)[:, None] * torch.pow(10000.0, -torch.arange(0, R, 2, device=x.device).double() / R)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], R // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads={n_heads} must be at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"d_rope={d_rope} must be even and not negative")
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.n_heads = n_heads
        self.d_rope = d_rope
        self.W_q, self.W_qr = linear(d_model, d_model), linear(d_model, n_heads * d_rope)
        self.W_c = linear(d_model, d_latent)
        self.W_k, self.W_v = linear(d_latent, d_model), linear(d_latent, d_model)
        self.W_kr = linear(d_model, d_rope)
        self.W_o = linear(d_model, d_model)

    def _heads(self, t):
        return t.unflatten(-1, (self.n_heads, t.shape[-1] // self.n_heads)).transpose(1, 2)

    def forward(self, x, mask=None):
        pos = torch.arange(x.shape[1], device=x.device)
        latent = self.W_c(x)
        q, k, v = (self._heads(t) for t in (self.W_q(x), self.W_k(latent), self.W_v(latent)))
        q_rot = _rotate(self._heads(self.W_qr(x)), pos)
        k_rot = self.W_kr(x)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k)
        scores = scores + torch.einsum("bhtr,bsr->bhts", q_rot, k_rot)
        scores = scores * (q.shape[-1] + self.d_rope) ** -0.5
        if mask is None:
            mask = torch.zeros((), dtype=torch.bool, device=x.device)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1).masked_fill(mask, 0)
        heads = torch.einsum("bhts,bhsk->bthk", weights, v)
        return self.W_o(heads.flatten(2)), weights
# %% wrong: rotate_half | RoPE pairs dimension i with i + R/2 (as in Llama's code) and not neighbours.
class LatentConfig:
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1:
            raise ValueError(f"n_heads is {n_heads}, must be >= 1")
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        if d_rope % 2 != 0 or d_rope < 0:
            raise ValueError(f"d_rope is {d_rope}, must be even and >= 0")
        self.d_model, self.n_heads, self.d_latent, self.d_rope = d_model, n_heads, d_latent, d_rope
        self.d_head = d_model // n_heads


def rotate_half(x):
    d = x.shape[-1]
    t = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)
    inv_freq = torch.exp(torch.arange(0, d, 2, device=x.device, dtype=x.dtype) * (-math.log(10000.0) / max(d, 1)))
    theta = torch.outer(t, inv_freq).repeat(1, 2)
    swapped = torch.cat((-x[..., d // 2:], x[..., :d // 2]), dim=-1)
    return x * theta.cos() + swapped * theta.sin()


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        cfg = self.cfg = LatentConfig(d_model, n_heads, d_latent, d_rope)
        self.W_q = nn.Linear(cfg.d_model, cfg.d_model, bias=False)
        self.W_qr = nn.Linear(cfg.d_model, cfg.n_heads * cfg.d_rope, bias=False)
        self.W_c = nn.Linear(cfg.d_model, cfg.d_latent, bias=False)
        self.W_k = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_v = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_kr = nn.Linear(cfg.d_model, cfg.d_rope, bias=False)
        self.W_o = nn.Linear(cfg.d_model, cfg.d_model, bias=False)

    def forward(self, x, mask=None):
        cfg = self.cfg
        b, t, _ = x.shape
        split = lambda y, width: y.reshape(b, t, cfg.n_heads, width).permute(0, 2, 1, 3)
        latent = self.W_c(x)
        queries = torch.cat([split(self.W_q(x), cfg.d_head), rotate_half(split(self.W_qr(x), cfg.d_rope))], dim=3)
        shared = rotate_half(self.W_kr(x))
        keys = torch.cat([split(self.W_k(latent), cfg.d_head), torch.stack([shared] * cfg.n_heads, dim=1)], dim=3)
        values = split(self.W_v(latent), cfg.d_head)
        logits = torch.matmul(queries, keys.permute(0, 1, 3, 2)) / math.sqrt(queries.size(3))
        visible = torch.ones_like(logits, dtype=torch.bool) if mask is None else ~mask.expand_as(logits)
        top = logits.detach().masked_fill(~visible, torch.finfo(logits.dtype).min).amax(-1, keepdim=True)
        e = torch.exp((logits - top).masked_fill(~visible, 0)) * visible
        total = e.sum(-1, keepdim=True)
        weights = e / total.masked_fill(total == 0, 1)
        context = torch.matmul(weights, values).permute(0, 2, 1, 3).reshape(b, t, cfg.d_model)
        return self.W_o(context), weights
# %% wrong: heads_interleaved | The heads are read as every H-th entry, (K, H), and not as blocks one after another.
def heads_of(t, n):
    B, T, W = t.shape
    return t.reshape(B, T, W // n, n).permute(0, 3, 1, 2)


class RoPE(nn.Module):
    def forward(self, x):
        R, T = x.size(-1), x.size(-2)
        out = []
        m = torch.arange(T, device=x.device, dtype=x.dtype)
        for i in range(R // 2):
            ang = m * 10000.0 ** (-2 * i / R)
            c, s = torch.cos(ang), torch.sin(ang)
            x0, x1 = x[..., 2 * i], x[..., 2 * i + 1]
            out += [x0 * c - x1 * s, x0 * s + x1 * c]
        return torch.stack(out, -1) if out else x


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"cannot split d_model={d_model} over n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} is not an even number >= 0")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(d_model // n_heads + d_rope)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.rope = RoPE()

    def forward(self, x, mask=None):
        n = self.n_heads
        c = self.W_c(x)
        q = heads_of(self.W_q(x), n)
        k = heads_of(self.W_k(c), n)
        v = heads_of(self.W_v(c), n)
        qr = self.rope(heads_of(self.W_qr(x), n))
        kr = self.rope(self.W_kr(x))[:, None]
        s = (q @ k.mT + qr @ kr.mT) * self.scale
        if mask is not None:
            s = s.masked_fill(mask, float("-inf"))
        empty = torch.isneginf(s).all(-1, keepdim=True)
        w = torch.softmax(s.masked_fill(empty, 0), -1).masked_fill(empty, 0)
        return self.W_o((w @ v).movedim(1, 2).flatten(2)), w
# %% wrong: cat_order_differs | The queries are put together as [q ; rotated] and the keys as [rotated ; k], so parts meet that do not belong together.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        kr = self.rope(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([kr, k], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
# %% wrong: kr_per_head | W_kr makes a rotated key of its own for each head (D → H·R) instead of one that all heads share.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        kr = self.rope(self.W_kr(x).view(B, T, H, R).transpose(1, 2))
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([k, kr], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
# %% wrong: values_from_x | The values are made from x (W_v: D → D) and not from the latent c, so they would still have to be cached.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads = %d must be >= 1 and divide d_model = %d" % (n_heads, d_model))
        if d_rope < 0 or d_rope % 2:
            raise ValueError("d_rope = %d must be even and >= 0" % d_rope)
        super().__init__()
        self.h, self.hd, self.rd = n_heads, d_model // n_heads, d_rope
        shapes = dict(W_q=(d_model, d_model), W_qr=(d_model, n_heads * d_rope), W_c=(d_model, d_latent),
                      W_k=(d_latent, d_model), W_v=(d_model, d_model), W_kr=(d_model, d_rope), W_o=(d_model, d_model))
        for name, (n_in, n_out) in shapes.items():
            self.add_module(name, nn.Linear(n_in, n_out, bias=False))

    def cos_sin(self, T, like):
        half = self.rd // 2
        angle = torch.zeros(T, half, dtype=torch.float64)
        for p in range(T):
            for i in range(half):
                angle[p, i] = p * 10000.0 ** (-2 * i / self.rd)
        return angle.cos().to(like), angle.sin().to(like)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        c = self.W_c(x)
        q, qr, k, v, kr = self.W_q(x), self.W_qr(x), self.W_k(c), self.W_v(x), self.W_kr(x)
        cos, sin = self.cos_sin(T, x)

        def turn(z):
            even, odd = z[..., ::2], z[..., 1::2]
            res = torch.empty_like(z)
            res[..., ::2] = even * cos - odd * sin
            res[..., 1::2] = even * sin + odd * cos
            return res

        kr = turn(kr)
        if mask is not None:
            mask = torch.broadcast_to(mask, (B, self.h, T, T))
        outs, ws = [], []
        for h in range(self.h):
            a, b = h * self.hd, (h + 1) * self.hd
            qh = torch.cat((q[..., a:b], turn(qr[..., h * self.rd:(h + 1) * self.rd])), -1)
            kh = torch.cat((k[..., a:b], kr), -1)
            s = qh @ kh.mT / (self.hd + self.rd) ** 0.5
            if mask is not None:
                s = s.masked_fill(mask[:, h], -1e30)
            w = s.softmax(-1)
            if mask is not None:
                w = w * (~mask[:, h])
            ws.append(w)
            outs.append(w @ v[..., a:b])
        return self.W_o(torch.cat(outs, -1)), torch.stack(ws, 1)
# %% wrong: fully_blocked_nan | A row whose keys are all blocked gives NaN: the softmax of only -inf.
def heads_of(t, n):
    B, T, W = t.shape
    return t.reshape(B, T, n, W // n).movedim(2, 1)


class RoPE(nn.Module):
    def forward(self, x):
        R, T = x.size(-1), x.size(-2)
        out = []
        m = torch.arange(T, device=x.device, dtype=x.dtype)
        for i in range(R // 2):
            ang = m * 10000.0 ** (-2 * i / R)
            c, s = torch.cos(ang), torch.sin(ang)
            x0, x1 = x[..., 2 * i], x[..., 2 * i + 1]
            out += [x0 * c - x1 * s, x0 * s + x1 * c]
        return torch.stack(out, -1) if out else x


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"cannot split d_model={d_model} over n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} is not an even number >= 0")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(d_model // n_heads + d_rope)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.rope = RoPE()

    def forward(self, x, mask=None):
        n = self.n_heads
        c = self.W_c(x)
        q = heads_of(self.W_q(x), n)
        k = heads_of(self.W_k(c), n)
        v = heads_of(self.W_v(c), n)
        qr = self.rope(heads_of(self.W_qr(x), n))
        kr = self.rope(self.W_kr(x))[:, None]
        s = (q @ k.mT + qr @ kr.mT) * self.scale
        if mask is not None:
            s = s.masked_fill(mask, float("-inf"))
        w = torch.softmax(s, -1)
        return self.W_o((w @ v).movedim(1, 2).flatten(2)), w
# %% wrong: mask_inverted | The mask is read as True = visible.
def _rotate(x, positions):
    """x (..., T, R), pairs (0, 1), (2, 3), ..."""
    R = x.shape[-1]
    if R == 0:
        return x
    angles = positions.to(torch.float64)[:, None] * torch.pow(10000.0, -torch.arange(0, R, 2, device=x.device).double() / R)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], R // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads={n_heads} must be at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"d_rope={d_rope} must be even and not negative")
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.n_heads = n_heads
        self.d_rope = d_rope
        self.W_q, self.W_qr = linear(d_model, d_model), linear(d_model, n_heads * d_rope)
        self.W_c = linear(d_model, d_latent)
        self.W_k, self.W_v = linear(d_latent, d_model), linear(d_latent, d_model)
        self.W_kr = linear(d_model, d_rope)
        self.W_o = linear(d_model, d_model)

    def _heads(self, t):
        return t.unflatten(-1, (self.n_heads, t.shape[-1] // self.n_heads)).transpose(1, 2)

    def forward(self, x, mask=None):
        pos = torch.arange(x.shape[1], device=x.device)
        latent = self.W_c(x)
        q, k, v = (self._heads(t) for t in (self.W_q(x), self.W_k(latent), self.W_v(latent)))
        q_rot = _rotate(self._heads(self.W_qr(x)), pos)
        k_rot = _rotate(self.W_kr(x), pos)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k)
        scores = scores + torch.einsum("bhtr,bsr->bhts", q_rot, k_rot)
        scores = scores * (q.shape[-1] + self.d_rope) ** -0.5
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=x.device)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1).masked_fill(~mask, 0)
        heads = torch.einsum("bhts,bhsk->bthk", weights, v)
        return self.W_o(heads.flatten(2)), weights
# %% wrong: rope_before_splitting | RoPE turns the whole vector of H·R entries before it is split into heads, so later heads get slower frequencies.
def _rotate(x, positions):
    """x (..., T, R), pairs (0, 1), (2, 3), ..."""
    R = x.shape[-1]
    if R == 0:
        return x
    angles = positions.to(torch.float64)[:, None] * torch.pow(10000.0, -torch.arange(0, R, 2, device=x.device).double() / R)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], R // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads={n_heads} must be at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"d_rope={d_rope} must be even and not negative")
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.n_heads = n_heads
        self.d_rope = d_rope
        self.W_q, self.W_qr = linear(d_model, d_model), linear(d_model, n_heads * d_rope)
        self.W_c = linear(d_model, d_latent)
        self.W_k, self.W_v = linear(d_latent, d_model), linear(d_latent, d_model)
        self.W_kr = linear(d_model, d_rope)
        self.W_o = linear(d_model, d_model)

    def _heads(self, t):
        return t.unflatten(-1, (self.n_heads, t.shape[-1] // self.n_heads)).transpose(1, 2)

    def forward(self, x, mask=None):
        pos = torch.arange(x.shape[1], device=x.device)
        latent = self.W_c(x)
        q, k, v = (self._heads(t) for t in (self.W_q(x), self.W_k(latent), self.W_v(latent)))
        q_rot = self._heads(_rotate(self.W_qr(x), pos))
        k_rot = _rotate(self.W_kr(x), pos)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k)
        scores = scores + torch.einsum("bhtr,bsr->bhts", q_rot, k_rot)
        scores = scores * (q.shape[-1] + self.d_rope) ** -0.5
        if mask is None:
            mask = torch.zeros((), dtype=torch.bool, device=x.device)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1).masked_fill(mask, 0)
        heads = torch.einsum("bhts,bhsk->bthk", weights, v)
        return self.W_o(heads.flatten(2)), weights
# %% wrong: rope_along_heads | RoPE is applied to (B, T, H, R), whose second last dimension counts heads, so heads are rotated and not positions.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R)).transpose(1, 2)
        kr = self.rope(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([k, kr], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
# %% wrong: clockwise | The pairs turn clockwise: the signs of the two sines are swapped.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads = %d must be >= 1 and divide d_model = %d" % (n_heads, d_model))
        if d_rope < 0 or d_rope % 2:
            raise ValueError("d_rope = %d must be even and >= 0" % d_rope)
        super().__init__()
        self.h, self.hd, self.rd = n_heads, d_model // n_heads, d_rope
        shapes = dict(W_q=(d_model, d_model), W_qr=(d_model, n_heads * d_rope), W_c=(d_model, d_latent),
                      W_k=(d_latent, d_model), W_v=(d_latent, d_model), W_kr=(d_model, d_rope), W_o=(d_model, d_model))
        for name, (n_in, n_out) in shapes.items():
            self.add_module(name, nn.Linear(n_in, n_out, bias=False))

    def cos_sin(self, T, like):
        half = self.rd // 2
        angle = torch.zeros(T, half, dtype=torch.float64)
        for p in range(T):
            for i in range(half):
                angle[p, i] = p * 10000.0 ** (-2 * i / self.rd)
        return angle.cos().to(like), angle.sin().to(like)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        c = self.W_c(x)
        q, qr, k, v, kr = self.W_q(x), self.W_qr(x), self.W_k(c), self.W_v(c), self.W_kr(x)
        cos, sin = self.cos_sin(T, x)

        def turn(z):
            even, odd = z[..., ::2], z[..., 1::2]
            res = torch.empty_like(z)
            res[..., ::2] = even * cos + odd * sin
            res[..., 1::2] = odd * cos - even * sin
            return res

        kr = turn(kr)
        if mask is not None:
            mask = torch.broadcast_to(mask, (B, self.h, T, T))
        outs, ws = [], []
        for h in range(self.h):
            a, b = h * self.hd, (h + 1) * self.hd
            qh = torch.cat((q[..., a:b], turn(qr[..., h * self.rd:(h + 1) * self.rd])), -1)
            kh = torch.cat((k[..., a:b], kr), -1)
            s = qh @ kh.mT / (self.hd + self.rd) ** 0.5
            if mask is not None:
                s = s.masked_fill(mask[:, h], -1e30)
            w = s.softmax(-1)
            if mask is not None:
                w = w * (~mask[:, h])
            ws.append(w)
            outs.append(w @ v[..., a:b])
        return self.W_o(torch.cat(outs, -1)), torch.stack(ws, 1)
# %% wrong: heads_not_moved_back | The outputs of the heads, (B, H, T, K), are reshaped to (B, T, D) without moving the heads behind the positions.
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        kr = self.rope(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([k, kr], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).reshape(B, T, D)
        return self.W_o(out), weights
# %% wrong: odd_rope_accepted | d_rope is not checked to be even.
def heads_of(t, n):
    B, T, W = t.shape
    return t.reshape(B, T, n, W // n).movedim(2, 1)


class RoPE(nn.Module):
    def forward(self, x):
        R, T = x.size(-1), x.size(-2)
        out = []
        m = torch.arange(T, device=x.device, dtype=x.dtype)
        for i in range(R // 2):
            ang = m * 10000.0 ** (-2 * i / R)
            c, s = torch.cos(ang), torch.sin(ang)
            x0, x1 = x[..., 2 * i], x[..., 2 * i + 1]
            out += [x0 * c - x1 * s, x0 * s + x1 * c]
        return torch.stack(out, -1) if out else x


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"cannot split d_model={d_model} over n_heads={n_heads}")
        if d_rope < 0:
            raise ValueError(f"d_rope={d_rope} is not a number >= 0")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(d_model // n_heads + d_rope)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.rope = RoPE()

    def forward(self, x, mask=None):
        n = self.n_heads
        c = self.W_c(x)
        q = heads_of(self.W_q(x), n)
        k = heads_of(self.W_k(c), n)
        v = heads_of(self.W_v(c), n)
        qr = self.rope(heads_of(self.W_qr(x), n))
        kr = self.rope(self.W_kr(x))[:, None]
        s = (q @ k.mT + qr @ kr.mT) * self.scale
        if mask is not None:
            s = s.masked_fill(mask, float("-inf"))
        empty = torch.isneginf(s).all(-1, keepdim=True)
        w = torch.softmax(s.masked_fill(empty, 0), -1).masked_fill(empty, 0)
        return self.W_o((w @ v).movedim(1, 2).flatten(2)), w
# %% wrong: no_rope_width_rejected | d_rope = 0, which is allowed, raises ValueError.
class LatentConfig:
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1:
            raise ValueError(f"n_heads is {n_heads}, must be >= 1")
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        if d_rope % 2 != 0 or d_rope <= 0:
            raise ValueError(f"d_rope is {d_rope}, must be even and > 0")
        self.d_model, self.n_heads, self.d_latent, self.d_rope = d_model, n_heads, d_latent, d_rope
        self.d_head = d_model // n_heads


def rotate_pairs(x):
    d = x.shape[-1]
    t = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)
    inv_freq = torch.exp(torch.arange(0, d, 2, device=x.device, dtype=x.dtype) * (-math.log(10000.0) / max(d, 1)))
    theta = torch.outer(t, inv_freq).repeat_interleave(2, dim=-1)
    swapped = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).reshape(x.shape)
    return x * theta.cos() + swapped * theta.sin()


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        cfg = self.cfg = LatentConfig(d_model, n_heads, d_latent, d_rope)
        self.W_q = nn.Linear(cfg.d_model, cfg.d_model, bias=False)
        self.W_qr = nn.Linear(cfg.d_model, cfg.n_heads * cfg.d_rope, bias=False)
        self.W_c = nn.Linear(cfg.d_model, cfg.d_latent, bias=False)
        self.W_k = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_v = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_kr = nn.Linear(cfg.d_model, cfg.d_rope, bias=False)
        self.W_o = nn.Linear(cfg.d_model, cfg.d_model, bias=False)

    def forward(self, x, mask=None):
        cfg = self.cfg
        b, t, _ = x.shape
        split = lambda y, width: y.reshape(b, t, cfg.n_heads, width).permute(0, 2, 1, 3)
        latent = self.W_c(x)
        queries = torch.cat([split(self.W_q(x), cfg.d_head), rotate_pairs(split(self.W_qr(x), cfg.d_rope))], dim=3)
        shared = rotate_pairs(self.W_kr(x))
        keys = torch.cat([split(self.W_k(latent), cfg.d_head), torch.stack([shared] * cfg.n_heads, dim=1)], dim=3)
        values = split(self.W_v(latent), cfg.d_head)
        logits = torch.matmul(queries, keys.permute(0, 1, 3, 2)) / math.sqrt(queries.size(3))
        visible = torch.ones_like(logits, dtype=torch.bool) if mask is None else ~mask.expand_as(logits)
        top = logits.detach().masked_fill(~visible, torch.finfo(logits.dtype).min).amax(-1, keepdim=True)
        e = torch.exp((logits - top).masked_fill(~visible, 0)) * visible
        total = e.sum(-1, keepdim=True)
        weights = e / total.masked_fill(total == 0, 1)
        context = torch.matmul(weights, values).permute(0, 2, 1, 3).reshape(b, t, cfg.d_model)
        return self.W_o(context), weights
# %% right: split_and_cat
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model, got n_heads={n_heads}, d_model={d_model}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x):
        T, R = x.shape[-2], self.R
        pos = torch.arange(T, dtype=x.dtype, device=x.device)[:, None]
        freq = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        cos, sin = torch.cos(pos * freq), torch.sin(pos * freq)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.H, self.K, self.R
        c = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        qr = self.rope(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        kr = self.rope(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query = torch.cat([q, qr], dim=-1)
        key = torch.cat([k, kr], dim=-1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            dead = mask.expand_as(scores).all(-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.W_o(out), weights
# %% right: complex_einsum
def _rotate(x, positions):
    """x (..., T, R), pairs (0, 1), (2, 3), ..."""
    R = x.shape[-1]
    if R == 0:
        return x
    angles = positions.to(torch.float64)[:, None] * torch.pow(10000.0, -torch.arange(0, R, 2, device=x.device).double() / R)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], R // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads={n_heads} must be at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"d_rope={d_rope} must be even and not negative")
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.n_heads = n_heads
        self.d_rope = d_rope
        self.W_q, self.W_qr = linear(d_model, d_model), linear(d_model, n_heads * d_rope)
        self.W_c = linear(d_model, d_latent)
        self.W_k, self.W_v = linear(d_latent, d_model), linear(d_latent, d_model)
        self.W_kr = linear(d_model, d_rope)
        self.W_o = linear(d_model, d_model)

    def _heads(self, t):
        return t.unflatten(-1, (self.n_heads, t.shape[-1] // self.n_heads)).transpose(1, 2)

    def forward(self, x, mask=None):
        pos = torch.arange(x.shape[1], device=x.device)
        latent = self.W_c(x)
        q, k, v = (self._heads(t) for t in (self.W_q(x), self.W_k(latent), self.W_v(latent)))
        q_rot = _rotate(self._heads(self.W_qr(x)), pos)
        k_rot = _rotate(self.W_kr(x), pos)
        scores = torch.einsum("bhtk,bhsk->bhts", q, k)
        scores = scores + torch.einsum("bhtr,bsr->bhts", q_rot, k_rot)
        scores = scores * (q.shape[-1] + self.d_rope) ** -0.5
        if mask is None:
            mask = torch.zeros((), dtype=torch.bool, device=x.device)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1).masked_fill(mask, 0)
        heads = torch.einsum("bhts,bhsk->bthk", weights, v)
        return self.W_o(heads.flatten(2)), weights
# %% right: loop_over_heads
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads = %d must be >= 1 and divide d_model = %d" % (n_heads, d_model))
        if d_rope < 0 or d_rope % 2:
            raise ValueError("d_rope = %d must be even and >= 0" % d_rope)
        super().__init__()
        self.h, self.hd, self.rd = n_heads, d_model // n_heads, d_rope
        shapes = dict(W_q=(d_model, d_model), W_qr=(d_model, n_heads * d_rope), W_c=(d_model, d_latent),
                      W_k=(d_latent, d_model), W_v=(d_latent, d_model), W_kr=(d_model, d_rope), W_o=(d_model, d_model))
        for name, (n_in, n_out) in shapes.items():
            self.add_module(name, nn.Linear(n_in, n_out, bias=False))

    def cos_sin(self, T, like):
        half = self.rd // 2
        angle = torch.zeros(T, half, dtype=torch.float64)
        for p in range(T):
            for i in range(half):
                angle[p, i] = p * 10000.0 ** (-2 * i / self.rd)
        return angle.cos().to(like), angle.sin().to(like)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        c = self.W_c(x)
        q, qr, k, v, kr = self.W_q(x), self.W_qr(x), self.W_k(c), self.W_v(c), self.W_kr(x)
        cos, sin = self.cos_sin(T, x)

        def turn(z):
            even, odd = z[..., ::2], z[..., 1::2]
            res = torch.empty_like(z)
            res[..., ::2] = even * cos - odd * sin
            res[..., 1::2] = even * sin + odd * cos
            return res

        kr = turn(kr)
        if mask is not None:
            mask = torch.broadcast_to(mask, (B, self.h, T, T))
        outs, ws = [], []
        for h in range(self.h):
            a, b = h * self.hd, (h + 1) * self.hd
            qh = torch.cat((q[..., a:b], turn(qr[..., h * self.rd:(h + 1) * self.rd])), -1)
            kh = torch.cat((k[..., a:b], kr), -1)
            s = qh @ kh.mT / (self.hd + self.rd) ** 0.5
            if mask is not None:
                s = s.masked_fill(mask[:, h], -1e30)
            w = s.softmax(-1)
            if mask is not None:
                w = w * (~mask[:, h])
            ws.append(w)
            outs.append(w @ v[..., a:b])
        return self.W_o(torch.cat(outs, -1)), torch.stack(ws, 1)
# %% right: config_manual_softmax
class LatentConfig:
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1:
            raise ValueError(f"n_heads is {n_heads}, must be >= 1")
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        if d_rope % 2 != 0 or d_rope < 0:
            raise ValueError(f"d_rope is {d_rope}, must be even and >= 0")
        self.d_model, self.n_heads, self.d_latent, self.d_rope = d_model, n_heads, d_latent, d_rope
        self.d_head = d_model // n_heads


def rotate_pairs(x):
    d = x.shape[-1]
    t = torch.arange(x.shape[-2], device=x.device, dtype=x.dtype)
    inv_freq = torch.exp(torch.arange(0, d, 2, device=x.device, dtype=x.dtype) * (-math.log(10000.0) / max(d, 1)))
    theta = torch.outer(t, inv_freq).repeat_interleave(2, dim=-1)
    swapped = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).reshape(x.shape)
    return x * theta.cos() + swapped * theta.sin()


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        cfg = self.cfg = LatentConfig(d_model, n_heads, d_latent, d_rope)
        self.W_q = nn.Linear(cfg.d_model, cfg.d_model, bias=False)
        self.W_qr = nn.Linear(cfg.d_model, cfg.n_heads * cfg.d_rope, bias=False)
        self.W_c = nn.Linear(cfg.d_model, cfg.d_latent, bias=False)
        self.W_k = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_v = nn.Linear(cfg.d_latent, cfg.d_model, bias=False)
        self.W_kr = nn.Linear(cfg.d_model, cfg.d_rope, bias=False)
        self.W_o = nn.Linear(cfg.d_model, cfg.d_model, bias=False)

    def forward(self, x, mask=None):
        cfg = self.cfg
        b, t, _ = x.shape
        split = lambda y, width: y.reshape(b, t, cfg.n_heads, width).permute(0, 2, 1, 3)
        latent = self.W_c(x)
        queries = torch.cat([split(self.W_q(x), cfg.d_head), rotate_pairs(split(self.W_qr(x), cfg.d_rope))], dim=3)
        shared = rotate_pairs(self.W_kr(x))
        keys = torch.cat([split(self.W_k(latent), cfg.d_head), torch.stack([shared] * cfg.n_heads, dim=1)], dim=3)
        values = split(self.W_v(latent), cfg.d_head)
        logits = torch.matmul(queries, keys.permute(0, 1, 3, 2)) / math.sqrt(queries.size(3))
        visible = torch.ones_like(logits, dtype=torch.bool) if mask is None else ~mask.expand_as(logits)
        top = logits.detach().masked_fill(~visible, torch.finfo(logits.dtype).min).amax(-1, keepdim=True)
        e = torch.exp((logits - top).masked_fill(~visible, 0)) * visible
        total = e.sum(-1, keepdim=True)
        weights = e / total.masked_fill(total == 0, 1)
        context = torch.matmul(weights, values).permute(0, 2, 1, 3).reshape(b, t, cfg.d_model)
        return self.W_o(context), weights
# %% right: rope_module_two_products
def heads_of(t, n):
    B, T, W = t.shape
    return t.reshape(B, T, n, W // n).movedim(2, 1)


class RoPE(nn.Module):
    def forward(self, x):
        R, T = x.size(-1), x.size(-2)
        out = []
        m = torch.arange(T, device=x.device, dtype=x.dtype)
        for i in range(R // 2):
            ang = m * 10000.0 ** (-2 * i / R)
            c, s = torch.cos(ang), torch.sin(ang)
            x0, x1 = x[..., 2 * i], x[..., 2 * i + 1]
            out += [x0 * c - x1 * s, x0 * s + x1 * c]
        return torch.stack(out, -1) if out else x


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"cannot split d_model={d_model} over n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} is not an even number >= 0")
        self.n_heads = n_heads
        self.scale = 1 / math.sqrt(d_model // n_heads + d_rope)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.rope = RoPE()

    def forward(self, x, mask=None):
        n = self.n_heads
        c = self.W_c(x)
        q = heads_of(self.W_q(x), n)
        k = heads_of(self.W_k(c), n)
        v = heads_of(self.W_v(c), n)
        qr = self.rope(heads_of(self.W_qr(x), n))
        kr = self.rope(self.W_kr(x))[:, None]
        s = (q @ k.mT + qr @ kr.mT) * self.scale
        if mask is not None:
            s = s.masked_fill(mask, float("-inf"))
        empty = torch.isneginf(s).all(-1, keepdim=True)
        w = torch.softmax(s.masked_fill(empty, 0), -1).masked_fill(empty, 0)
        return self.W_o((w @ v).movedim(1, 2).flatten(2)), w
