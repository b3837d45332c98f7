"""Right answers to `ModernBlock` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% BlockOfFunctions
class ModernBlock(nn.Module):
    """Its two halves are functions of their own; attention is written out, with a mask of −∞."""

    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.gain_1 = nn.Parameter(torch.ones(d_model))
        self.gain_2 = nn.Parameter(torch.ones(d_model))
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        self.n_heads, self.rotates = n_heads, rotates

    @staticmethod
    def norm(x, gain):
        return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-6) * gain

    @staticmethod
    def rope(x):
        T, K = x.shape[-2:]
        frequencies = 10000.0 ** (-torch.arange(0, K, 2, device=x.device) / K)
        angles = torch.arange(T, device=x.device)[:, None] * frequencies
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def attend(self, a):
        B, T, D = a.shape
        q, k, v = (W(a).view(B, T, self.n_heads, -1).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = self.rope(q), self.rope(k)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        future = torch.ones(T, T, dtype=torch.bool, device=a.device).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D))

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.gain_1))
        a = self.norm(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))


# %% BlockByComplexNumbers
class ModernBlock(nn.Module):
    """One product for queries, keys and values, turned as complex numbers; PyTorch's kernel attends."""

    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_q, self.W_k, self.W_v, self.W_o = [nn.Linear(d_model, d_model, False) for _ in "qkvo"]
        self.W_gate, self.W_up, self.W_down = (
            nn.Linear(d_model, hidden, False),
            nn.Linear(d_model, hidden, False),
            nn.Linear(hidden, d_model, False),
        )
        self.heads, self.rotates = n_heads, rotates

    def forward(self, x):
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.gain_1
        packed = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        qkv = F.linear(normed, packed).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        qk, v = qkv[:2], qkv[2]
        if self.rotates:
            T, K = qk.shape[-2:]
            speeds = torch.exp(torch.arange(0, K, 2, device=x.device) * (-math.log(10000.0) / K))
            angles = torch.outer(torch.arange(T, device=x.device), speeds).to(x.dtype)
            turn = torch.polar(torch.ones_like(angles), angles)
            qk = torch.view_as_real(torch.view_as_complex(qk.unflatten(-1, (-1, 2)).contiguous()) * turn).flatten(-2)
        mixed = F.scaled_dot_product_attention(qk[0], qk[1], v, is_causal=True)
        x = x + self.W_o(mixed.transpose(1, 2).flatten(2))
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.gain_2
        return x + self.W_down(F.silu(self.W_gate(normed)).mul(self.W_up(normed)))


# %% BlockHeadByHead
class ModernBlock(nn.Module):
    """A loop over heads with rotation matrices; lengths in place of means; silu from its definition."""

    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        layers = dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (d_model, d_model))
        layers |= {"W_gate": (d_model, hidden), "W_up": (d_model, hidden), "W_down": (hidden, d_model)}
        for name, (n_in, n_out) in layers.items():
            setattr(self, name, nn.Linear(n_in, n_out, bias=False))
        for i in (1, 2):
            self.register_parameter(f"gain_{i}", nn.Parameter(torch.ones(d_model)))
        self.n_heads, self.rotates = n_heads, rotates

    def normalised(self, x, gain):
        length = x.pow(2).sum(dim=-1, keepdim=True)
        return gain * x / (length / x.shape[-1] + 1e-6).sqrt()

    def rotations(self, T, size, like):
        turns = []
        for t in range(T):
            angles = [t * 10000.0 ** (-2 * i / size) for i in range(size // 2)]
            pairs = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in angles]
            turns.append(torch.block_diag(*pairs))
        return torch.stack(turns).to(like)

    def forward(self, x):
        T, size = x.shape[1], x.shape[2] // self.n_heads
        a = self.normalised(x, self.gain_1)
        heads = []
        for h in range(self.n_heads):
            rows = slice(h * size, (h + 1) * size)
            q, k, v = (a @ W.weight[rows].T for W in (self.W_q, self.W_k, self.W_v))
            if self.rotates:
                R = self.rotations(T, size, x)
                q, k = (torch.einsum("tij,btj->bti", R, t) for t in (q, k))
            scores = torch.bmm(q, k.mT) / size**0.5
            blocked = torch.full_like(scores, -torch.inf).triu(1)
            heads.append(torch.softmax(scores + blocked, -1) @ v)
        x = x + F.linear(torch.cat(heads, -1), self.W_o.weight)
        a = self.normalised(x, self.gain_2)
        gate = self.W_gate(a)
        return x + self.W_down(gate * self.W_up(a) / (1 + torch.exp(-gate)))


# %% BlockWithPartners
class ModernBlock(nn.Module):
    """Each entry with its partner's, and cosines in a table that is not part of the state; einsum throughout."""

    def __init__(self, d_model: int, n_heads: int, hidden: int, rotates: bool = True) -> None:
        super().__init__()
        linear = lambda n, m: nn.Linear(n, m, bias=False)  # noqa: E731
        self.W_q, self.W_k, self.W_v = (linear(d_model, d_model) for _ in range(3))
        self.W_o, self.W_gate = linear(d_model, d_model), linear(d_model, hidden)
        self.W_up, self.W_down = linear(d_model, hidden), linear(hidden, d_model)
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.n_heads = n_heads
        size = d_model // n_heads
        speeds = 10000.0 ** -(torch.arange(size).div(2, rounding_mode="floor") * 2 / size)
        self.register_buffer("speeds", speeds if rotates else torch.zeros(size), persistent=False)

    def turn(self, x):
        angles = torch.arange(x.shape[-2], device=x.device).unsqueeze(-1) * self.speeds
        partner = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
        return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)

    def forward(self, x):
        norm = lambda x, gain: x.div(x.pow(2).mean(-1, True).add(1e-6).sqrt()).mul(gain)  # noqa: E731
        normed = norm(x, self.gain_1)
        q, k, v = (W(normed).unflatten(-1, (self.n_heads, -1)).movedim(2, 1) for W in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bhtk,bhsk->bhts", self.turn(q), self.turn(k)) * k.shape[-1] ** -0.5
        places = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(places[:, None] >= places, scores, -torch.inf)
        weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
        x = x + self.W_o(torch.einsum("bhts,bhsk->bthk", weights, v).flatten(2))
        normed = norm(x, self.gain_2)
        return self.W_down(self.W_gate(normed).sigmoid() * self.W_gate(normed) * self.W_up(normed)) + x


# %% BlockByTheGaps
class ModernBlock(nn.Module):
    """Nothing is rotated: each score is computed from the gap between its two positions, pair by pair."""

    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones((d_model,))), nn.Parameter(torch.ones((d_model,)))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        self.h, self.k, self.base = n_heads, d_model // n_heads, 10000.0 if rotates else math.inf

    def scores(self, q, k):
        places = torch.arange(q.shape[-2], device=q.device).to(q.dtype)
        gap = places[None, :] - places[:, None]
        total = torch.zeros_like(gap)
        for i in range(self.k // 2):
            angle = gap * (0.0 if math.isinf(self.base) else self.base ** (-2 * i / self.k))
            q0, q1, k0, k1 = (t[..., 2 * i + j] for t in (q, k) for j in (0, 1))
            same = q0[..., :, None] * k0[..., None, :] + q1[..., :, None] * k1[..., None, :]
            across = q1[..., :, None] * k0[..., None, :] - q0[..., :, None] * k1[..., None, :]
            total = total + same * angle.cos() + across * angle.sin()
        return (total / math.sqrt(self.k)).masked_fill(gap > 0, -torch.inf)

    def forward(self, x):
        def norm(x, gain):
            return x * gain * (torch.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1] + 1e-6) ** -0.5

        a = norm(x, self.gain_1)
        q, k, v = (layer(a).unflatten(2, (self.h, self.k)).transpose(1, 2) for layer in (self.W_q, self.W_k, self.W_v))
        x = x + self.W_o((F.softmax(self.scores(q, k), dim=-1) @ v).transpose(1, 2).reshape(x.shape))
        a = norm(x, self.gain_2)
        return torch.add(x, self.W_down(F.silu(self.W_gate(a)) * self.W_up(a)))


# %% BlockWithTheBatchFolded
class ModernBlock(nn.Module):
    """Heads folded into the batch, angles in float64, sums in place on fresh tensors."""

    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        for name in ("gain_2", "gain_1"):
            setattr(self, name, nn.Parameter(torch.full((d_model,), 1.0)))
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        self.W_up, self.W_gate = nn.Linear(d_model, hidden, bias=False), nn.Linear(d_model, hidden, bias=False)
        self.W_o, self.W_v, self.W_k, self.W_q = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.n_heads, self.rotates = n_heads, rotates

    def head(self, layer, a, turned):
        B, T, _ = a.shape
        x = layer(a).reshape(B, T, self.n_heads, -1).transpose(1, 2).reshape(B * self.n_heads, T, -1)
        if not (turned and self.rotates):
            return x
        pairs = torch.arange(x.shape[-1] // 2, dtype=torch.float64, device=x.device)
        angles = torch.arange(T, device=x.device).unsqueeze(1) * 10000.0 ** (-2 * pairs / x.shape[-1])
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        out = torch.empty_like(x)
        out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
        return out

    def forward(self, x):
        B, T, D = x.shape
        a = x / (x.pow(2).mean(-1, keepdim=True) + 1e-6) ** 0.5 * self.gain_1
        q, k = self.head(self.W_q, a, True), self.head(self.W_k, a, True)
        scores = torch.baddbmm(x.new_zeros(()), q, k.mT, beta=0, alpha=q.shape[-1] ** -0.5)
        allowed = torch.ones_like(scores[0], dtype=torch.bool).tril()
        mixed = scores.masked_fill(~allowed, float("-inf")).softmax(2) @ self.head(self.W_v, a, False)
        total = self.W_o(mixed.unflatten(0, (B, self.n_heads)).permute(0, 2, 1, 3).reshape(B, T, D))
        total += x
        a = total / (total.pow(2).mean(-1, keepdim=True) + 1e-6) ** 0.5 * self.gain_2
        result = self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))
        result += total
        return result
