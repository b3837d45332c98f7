# %% wrong: scale_without_rope | The scores are divided by the root of K alone; the rotated part is not counted in the width.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: rotate_half | The rotated pairs are (i, i + R/2), as in Hugging Face's rotate_half, not neighbours.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x.chunk(2, -1)
    return torch.cat([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: rotated_over_head_dim | The angles run along the heads: RoPE takes the head's number for the position of the queries.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R).transpose(1, 2), torch.arange(H, device=x.device)).transpose(1, 2)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: head_last_split | The width is split as (K, H), so that the heads are interleaved instead of one after another.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, K, H).transpose(2, 3)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, K, H).transpose(2, 3)
        v = self.W_v(latent).view(B, T, K, H).transpose(2, 3)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: kr_not_rotated | The shared key part is used without rotation; only the queries turn.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.W_kr(x)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: values_from_keys | The values are taken from W_k's output, as in an architecture that ties keys and values.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_k(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: merge_without_transpose | The heads' outputs are reshaped to (B, T, D) without bringing the head dimension behind the positions.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).reshape(x.shape)), w

# %% wrong: dead_row_nan | A fully blocked row gives NaN: all its scores are -inf.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    return s.masked_fill(mask, float('-inf')).softmax(-1)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: dead_row_uniform | Blocked scores become a large negative number, so a fully blocked row spreads its weight evenly.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: mask_means_keep | The mask is read as True = may be seen.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = ~mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: always_causal | A causal mask is added although the module blocks only what its mask says.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        mask = future if mask is None else mask | future
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: rope_order_swapped | The rotated part is put before the plain part in the keys but behind it in the queries.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([kr, k], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: linear_bias | The Linear layers keep their default bias.
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% wrong: positions_from_one | RoPE of the queries starts at position 1, that of the keys at 0.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos + 1)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% wrong: no_rope_refused | R = 0 is refused: the check asks for a positive width.
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 1 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% right: cat_keys
def _rope(x):
    T, R = x.shape[-2:]
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
    a = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * f
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack([x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()], -1).flatten(-2)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% right: einsum_sum
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        scores = torch.einsum("bthk,bshk->bhts", q, k)
        scores = scores + torch.einsum("bthr,bsr->bhts", qr, kr)
        scores = scores * (K + R) ** -0.5
        if mask is not None:
            mask = mask.expand(scores.shape)
            dead = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~dead, float("-inf"))
            weights = torch.softmax(scores, dim=-1).masked_fill(dead, 0.0)
        else:
            weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bhts,bshk->bthk", weights, v)
        return self.W_o(out.reshape(B, T, D)), weights

# %% right: complex_numbers
def _rope(x):
    T, R = x.shape[-2:]
    if R == 0:
        return x
    f = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / R)
    a = torch.outer(torch.arange(T, dtype=x.dtype, device=x.device), f)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], R // 2, 2).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(a), a)).reshape(x.shape)

def _softmax(s, mask):
    if mask is None:
        return s.softmax(-1)
    s = s.masked_fill(mask, -1e30)
    return s.softmax(-1).masked_fill(mask, 0.0)

class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads: raise ValueError(f"n_heads {n_heads} must divide d_model {d_model}")
        if d_rope < 0 or d_rope % 2: raise ValueError(f"d_rope must be even, got {d_rope}")
        self.H, self.K, self.R = n_heads, d_model // n_heads, d_rope
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_kr, self.W_o = lin(d_model, d_rope), lin(d_model, d_model)
    def _heads(self, x, n):
        return x.unflatten(-1, (self.H, n)).transpose(1, 2)
    def forward(self, x, mask=None):
        c = self.W_c(x)
        q = torch.cat([self._heads(self.W_q(x), self.K), _rope(self._heads(self.W_qr(x), self.R))], -1)
        k = self._heads(self.W_k(c), self.K)
        kr = _rope(self.W_kr(x))[:, None].expand(-1, self.H, -1, -1)
        k = torch.cat([k, kr], -1)
        v = self._heads(self.W_v(c), self.K)
        w = _softmax(q @ k.transpose(-1, -2) / math.sqrt(self.K + self.R), mask)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w

# %% right: loop_over_heads
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        k = self.W_k(latent).view(B, T, H, K)
        v = self.W_v(latent).view(B, T, H, K)
        kr = self.rotate(self.W_kr(x), pos)
        outs, ws = [], []
        for h in range(H):
            qh = torch.cat([q[:, :, h], qr[:, :, h]], -1)
            kh = torch.cat([k[:, :, h], kr], -1)
            s = qh @ kh.mT / math.sqrt(K + R)
            if mask is not None:
                m = mask.expand(B, H, T, T)[:, h]
                s = s.masked_fill(m, torch.finfo(s.dtype).min)
                w = torch.softmax(s, -1) * (~m)
            else:
                w = torch.softmax(s, -1)
            ws.append(w)
            outs.append(w @ v[:, :, h])
        return self.W_o(torch.cat(outs, -1)), torch.stack(ws, 1)

# %% right: absorbed_form
class MultiHeadLatentAttention(torch.nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        if d_rope < 0 or d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} must be an even number >= 0")
        self.num_heads = n_heads
        self.head_dim = d_model // n_heads
        self.rope_dim = d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x, positions):
        # x (B, T, ..., R), angles along dim 1
        R = self.rope_dim
        inv = 10000.0 ** (-2 * torch.arange(R // 2, device=x.device, dtype=x.dtype) / max(R, 1))
        ang = torch.outer(positions.to(x.dtype), inv)
        while ang.dim() < x.dim() - 1:
            ang = ang.unsqueeze(1)
        cos, sin = torch.cos(ang), torch.sin(ang)
        even, odd = x[..., ::2], x[..., 1::2]
        y = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
        return y.reshape(x.shape)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.num_heads, self.head_dim, self.rope_dim
        pos = torch.arange(T, device=x.device)
        latent = self.W_c(x)
        q = self.W_q(x).view(B, T, H, K)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R), pos)
        kr = self.rotate(self.W_kr(x), pos)
        up_k = self.W_k.weight.view(H, K, -1)
        up_v = self.W_v.weight.view(H, K, -1)
        short = torch.einsum("bthk,hkc->bhtc", q, up_k)
        s = torch.cat([short, qr.transpose(1, 2)], -1) @ torch.cat([latent, kr], -1).unsqueeze(1).mT
        s = s / math.sqrt(K + R)
        if mask is not None:
            m = mask.expand(s.shape)
            s = torch.where(m, -1e30, s)
            w = torch.where(m, 0.0, s.softmax(-1))
        else:
            w = s.softmax(-1)
        o = torch.einsum("bhtc,hkc->bthk", w @ latent.unsqueeze(1), up_v)
        return self.W_o(o.reshape(B, T, D)), w
