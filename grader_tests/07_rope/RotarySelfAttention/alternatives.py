"""Right answers to `RotarySelfAttention` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% WithComplexNumbers
class RotarySelfAttention(nn.Module):
    """Queries and keys are packed, and rotated as one tensor of complex numbers."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(d_model, d_model, False), nn.Linear(d_model, d_model, False)
        self.W_v, self.W_o = nn.Linear(d_model, d_model, False), nn.Linear(d_model, d_model, False)
        self.n_heads = n_heads
        size = d_model // n_heads
        self.register_buffer("inv_freq", 1.0 / 10000.0 ** (torch.arange(0, size, 2).float() / size), persistent=False)

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        qkv = torch.stack([self.W_q(x), self.W_k(x), self.W_v(x)])
        qkv = qkv.view(3, B, T, self.n_heads, D // self.n_heads).transpose(2, 3)
        angles = torch.outer(positions.to(self.inv_freq.dtype), self.inv_freq)
        z = torch.view_as_complex(qkv[:2].unflatten(-1, (-1, 2)).contiguous())
        q, k = torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)
        scores = q @ k.transpose(-2, -1) * (D // self.n_heads) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
            nothing = mask.expand_as(scores).all(-1, keepdim=True)
            weights = F.softmax(scores.masked_fill(nothing, 0.0), dim=-1).masked_fill(nothing, 0.0)
        else:
            weights = F.softmax(scores, dim=-1)
        return self.W_o((weights @ qkv[2]).transpose(1, 2).reshape(B, T, D)), weights


# %% ByTheGaps
class RotarySelfAttention(nn.Module):
    """Nothing is rotated: the score is computed from the gap between each two positions, pair of numbers by pair."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        for role in "oqkv":
            self.add_module(f"W_{role}", nn.Linear(d_model, d_model, bias=False))
        self.h, self.k = n_heads, d_model // n_heads

    def forward(self, x, positions=None, mask=None):
        places = torch.arange(float(x.size(1)), device=x.device) if positions is None else positions.to(x.dtype)
        q, k, v = (layer(x).unflatten(2, (self.h, self.k)).movedim(2, 1) for layer in (self.W_q, self.W_k, self.W_v))
        gap = places[None, :] - places[:, None]  # (query, key)
        scores = 0.0
        for i in range(self.k // 2):
            angle = gap * 10000.0 ** (-2 * i / self.k)
            q0, q1, k0, k1 = (t[..., 2 * i + j] for t in (q, k) for j in (0, 1))
            same = q0[..., :, None] * k0[..., None, :] + q1[..., :, None] * k1[..., None, :]
            across = q1[..., :, None] * k0[..., None, :] - q0[..., :, None] * k1[..., None, :]
            scores = scores + same * angle.cos() + across * angle.sin()
        scores = (scores / math.sqrt(self.k)).to(x.dtype)
        if mask is None:
            weights = scores.softmax(dim=3)
        else:
            blocked = mask.expand(scores.shape)
            weights = scores.masked_fill(blocked, torch.finfo(scores.dtype).min).softmax(-1) * ~blocked
        return self.W_o(torch.einsum("bhts,bhsk->bthk", weights, v).reshape(x.shape)), weights


# %% HeadByHead
class RotarySelfAttention(nn.Module):
    """A loop over heads, weights taken from the layer by slices, whole rotation matrices, a softmax by hand."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.heads = range(n_heads)

    def rotations(self, positions, size, like):
        blocks = []
        for p in positions.tolist():
            angles = [p * 10000.0 ** (-2 * i / size) for i in range(size // 2)]
            pairs = [torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in angles]
            blocks.append(torch.block_diag(*pairs))
        return torch.stack(blocks).to(like)

    def forward(self, x, positions=None, mask=None):
        T, D = x.shape[1:]
        size = D // len(self.heads)
        R = self.rotations(torch.arange(T) if positions is None else positions, size, x)
        blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
        blocked = blocked.expand(len(x), len(self.heads), T, T)
        outputs, maps = [], []
        for h in self.heads:
            rows = [layer.weight[h * size : (h + 1) * size] for layer in (self.W_q, self.W_k, self.W_v)]
            q, k, v = (x @ W.T for W in rows)
            q, k = (torch.einsum("tij,btj->bti", R, t) for t in (q, k))
            scores = torch.bmm(q, k.mT) / size**0.5
            top = scores.masked_fill(blocked[:, h], torch.finfo(x.dtype).min).amax(-1, keepdim=True)
            grown = (scores - top).clamp(max=0.0).exp() * ~blocked[:, h]
            w = grown / grown.sum(-1, keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
            outputs.append(w @ v)
            maps.append(w)
        return F.linear(torch.cat(outputs, -1), self.W_o.weight), torch.stack(maps, dim=1)


# %% WithATableThatGrows
class RotarySelfAttention(nn.Module):
    """Heads folded into the batch, cosines looked up where positions are default, an additive mask."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(in_features=d_model, out_features=d_model, bias=False) for _ in range(4)
        )
        self.n_heads = n_heads
        self.table = torch.zeros(0, d_model // n_heads // 2, dtype=torch.float64)

    def angles(self, T, positions, device):
        half = self.table.shape[1]
        speeds = torch.exp(torch.arange(half, dtype=torch.float64, device=device) * (-math.log(10000.0) / half))
        if positions is not None:
            return positions.double().unsqueeze(1).mul(speeds)
        if len(self.table) < T:
            self.table = torch.arange(T, device=device).unsqueeze(1) * speeds
        return self.table[:T]

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        angles = self.angles(T, positions, x.device)
        q, k, v = (
            t.reshape(B, T, self.n_heads, -1).transpose(1, 2).reshape(B * self.n_heads, T, -1)
            for t in (self.W_q(x), self.W_k(x), self.W_v(x))
        )

        def rotated(t):
            out = torch.empty_like(t)
            out[..., ::2] = t[..., ::2] * angles.cos().to(t.dtype) - t[..., 1::2] * angles.sin().to(t.dtype)
            out[..., 1::2] = t[..., 1::2] * angles.cos().to(t.dtype) + t[..., ::2] * angles.sin().to(t.dtype)
            return out

        scores = torch.baddbmm(t_zeros := x.new_zeros(()), rotated(q), rotated(k).mT, beta=0, alpha=q.shape[-1] ** -0.5)
        scores = scores.view(B, self.n_heads, T, T) + t_zeros
        if mask is not None:
            # an extra key with score 0 and no value takes the weight where nothing is open
            mask = mask.expand(scores.shape)
            spare = torch.where(mask.all(-1, keepdim=True), 0.0, -torch.inf).to(scores)
            scores = torch.cat([scores.masked_fill(mask, -torch.inf), spare], -1)
        weights = torch.softmax(scores, -1)[..., :T]
        merged = torch.matmul(weights, v.view(B, self.n_heads, T, -1)).permute(0, 2, 1, 3).contiguous().view(B, T, D)
        return self.W_o(merged), weights


# %% OfTwoModules
class _Rotation(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("speeds", 10000.0 ** -torch.linspace(0, 1, size // 2 + 1)[:-1])

    def forward(self, x, positions):
        angle = torch.einsum("t,i->ti", positions.to(x.dtype), self.speeds.to(x.dtype))
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1).view_as(x)


class RotarySelfAttention(nn.Module):
    """The rotation is a module with a buffer; sentences and heads by vmap; softmax through logsumexp."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.rotation = _Rotation(d_model // n_heads)
        self.n_heads = n_heads

    def forward(self, x, positions=None, mask=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        projected = (layer(x).unflatten(-1, (self.n_heads, -1)) for layer in (self.W_q, self.W_k, self.W_v))
        q, k, v = (heads.transpose(1, 2).contiguous() for heads in projected)
        q, k = self.rotation(q, positions), self.rotation(k, positions)
        scores = torch.vmap(torch.vmap(lambda a, b: a @ b.T))(q, k).div(math.sqrt(q.shape[-1]))
        if mask is None:
            mask = torch.zeros_like(scores, dtype=torch.bool)
        nothing = mask.expand_as(scores).all(-1, keepdim=True)
        scores = scores.masked_fill(mask & ~nothing, -math.inf)
        weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True)).masked_fill(nothing, 0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights


# %% GrownFromLesson6
def rotate(x, positions):
    angles = positions[:, None] * 10000.0 ** (-torch.arange(0, x.shape[-1], 2, device=x.device) / x.shape[-1])
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def split_heads(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def masked_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1).masked_fill(mask, 0.0)
    return weights @ value, weights


class RotarySelfAttention(nn.Module):
    """The functions of lessons 5 and 6, copied into the cell."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        query = rotate(split_heads(self.W_q(x), self.n_heads), positions)
        key = rotate(split_heads(self.W_k(x), self.n_heads), positions)
        value = split_heads(self.W_v(x), self.n_heads)
        output, weights = masked_attention(query, key, value, mask)
        return self.W_o(merge_heads(output)), weights
