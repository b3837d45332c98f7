"""Right answers to `MultiHeadLatentAttention` in other styles."""

import math

import torch
from torch import nn


# %% PartsPutTogether
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope = {d_rope} is not an even number of at least 0")
        self.n_heads, self.d_rope = n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x):
        R = x.shape[-1]
        frequencies = 10000.0 ** (-torch.arange(0, R, 2, device=x.device).double() / max(R, 1))
        angles = torch.arange(x.shape[-2], device=x.device).double()[:, None] * frequencies
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, R = self.n_heads, self.d_rope
        K = D // H
        q = self.W_q(x).view(B, T, H, K).transpose(1, 2)
        qr = self.rotate(self.W_qr(x).view(B, T, H, R).transpose(1, 2))
        c = self.W_c(x)
        k = self.W_k(c).view(B, T, H, K).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query, key = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
        scores = query @ key.transpose(-2, -1) / math.sqrt(K + R)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights


# %% ScoresAddedUp
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if not (n_heads > 0 and d_model % n_heads == 0):
            raise ValueError(f"{n_heads=} leaves a remainder in {d_model=}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"{d_rope=} cannot be cut into pairs")
        self.n_heads, self.d_rope, self.d_head = n_heads, d_rope, d_model // n_heads

        def layer(wide, rows):
            return nn.Linear(wide, rows, bias=False)

        self.W_q, self.W_o = layer(d_model, d_model), layer(d_model, d_model)
        self.W_qr, self.W_kr = layer(d_model, n_heads * d_rope), layer(d_model, d_rope)
        self.W_c, self.W_k, self.W_v = layer(d_model, d_latent), layer(d_latent, d_model), layer(d_latent, d_model)

    def forward(self, x, mask=None):
        split = lambda t, width: t.unflatten(-1, (self.n_heads, width)).transpose(1, 2)
        latent = self.W_c(x)
        scores = split(self.W_q(x), self.d_head) @ split(self.W_k(latent), self.d_head).mT
        if self.d_rope:
            exponents = torch.arange(0, self.d_rope, 2, dtype=torch.float64, device=x.device) / self.d_rope
            angles = torch.outer(torch.arange(x.shape[1], device=x.device).double(), 10000.0**-exponents)
            real = torch.float64 if x.dtype == torch.float64 else torch.float32
            turn = torch.polar(torch.ones_like(angles), angles).to(
                torch.complex128 if real == torch.float64 else torch.complex64
            )
            pairs = lambda t: torch.view_as_complex(t.to(real).unflatten(-1, (-1, 2)).contiguous()) * turn
            qr, kr = pairs(split(self.W_qr(x), self.d_rope)), pairs(self.W_kr(x)[:, None])
            scores = scores + (qr @ kr.mH).real.to(x.dtype)
        scores = scores * (self.d_head + self.d_rope) ** -0.5
        blocked = torch.zeros_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
        weights = scores.masked_fill(blocked, torch.finfo(x.dtype).min).softmax(-1) * ~blocked
        return self.W_o((weights @ split(self.W_v(latent), self.d_head)).transpose(1, 2).flatten(2)), weights


# %% HeadByHead
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError("d_model %d, n_heads %d" % (d_model, n_heads))
        if d_rope % 2 or d_rope < 0:
            raise ValueError("d_rope %d" % d_rope)
        self.H, self.R = n_heads, d_rope
        for name, a, b in [
            ("W_q", d_model, d_model),
            ("W_qr", d_model, n_heads * d_rope),
            ("W_c", d_model, d_latent),
            ("W_k", d_latent, d_model),
            ("W_v", d_latent, d_model),
            ("W_kr", d_model, d_rope),
            ("W_o", d_model, d_model),
        ]:
            self.add_module(name, nn.Linear(a, b, bias=False))

    def turn(self, x):
        parts = []
        for i in range(0, self.R, 2):
            angle = torch.arange(x.shape[1], device=x.device, dtype=torch.float64) * 10000.0 ** (-i / self.R)
            c, s = angle.cos()[:, None].to(x.dtype), angle.sin()[:, None].to(x.dtype)
            a, b = x[..., i : i + 1], x[..., i + 1 : i + 2]
            parts += [a * c - b * s, a * s + b * c]
        return torch.cat(parts, -1) if parts else x

    def forward(self, x, mask=None):
        B, T, D = x.shape
        K, c = D // self.H, self.W_c(x)
        q, qr, k, v, kr = self.W_q(x), self.W_qr(x), self.W_k(c), self.W_v(c), self.turn(self.W_kr(x))
        blocked = torch.zeros(1, dtype=torch.bool, device=x.device) if mask is None else mask
        blocked = blocked.expand(B, self.H, T, T)
        heads, maps = [], []
        for h in range(self.H):
            mine, turning = slice(h * K, (h + 1) * K), slice(h * self.R, (h + 1) * self.R)
            query = torch.cat([q[..., mine], self.turn(qr[..., turning])], dim=2)
            key = torch.cat([k[..., mine], kr], dim=2)
            scores = torch.bmm(query, key.transpose(1, 2)) / (K + self.R) ** 0.5
            share = scores.masked_fill(blocked[:, h], float("-inf")).softmax(-1).masked_fill(blocked[:, h], 0.0)
            heads.append(share @ v[..., mine])
            maps.append(share)
        return self.W_o(torch.cat(heads, -1)), torch.stack(maps, 1)


# %% ByEinsum
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, d_model is {d_model}")
        if d_rope not in range(0, d_rope + 1, 2):
            raise ValueError(f"d_rope is {d_rope}, which is odd or negative")
        super().__init__()
        self.sizes = n_heads, d_model // n_heads, d_rope
        wide = {"W_k": d_latent, "W_v": d_latent}
        rows = {"W_qr": n_heads * d_rope, "W_c": d_latent, "W_kr": d_rope}
        for name in ("W_q", "W_qr", "W_c", "W_k", "W_v", "W_kr", "W_o"):
            setattr(self, name, nn.Linear(wide.get(name, d_model), rows.get(name, d_model), bias=False))

    def forward(self, x, mask=None):
        H, K, R = self.sizes
        T = x.shape[1]
        c = torch.einsum("btd,cd->btc", x, self.W_c.weight)
        q = torch.einsum("btd,hkd->bthk", x, self.W_q.weight.view(H, K, -1))
        k = torch.einsum("btc,hkc->bthk", c, self.W_k.weight.view(H, K, -1))
        v = torch.einsum("btc,hkc->bthk", c, self.W_v.weight.view(H, K, -1))
        scores = torch.einsum("bihk,bjhk->bhij", q, k)
        # A matrix that turns each position's vector, (T, R, R)
        turn = torch.zeros(T, R, R, dtype=torch.float64, device=x.device)
        pairs = torch.arange(R // 2, device=x.device)
        angles = torch.arange(T, device=x.device).double()[:, None] * 10000.0 ** (-2.0 * pairs / max(R, 1))
        turn[:, 2 * pairs, 2 * pairs] = turn[:, 2 * pairs + 1, 2 * pairs + 1] = angles.cos()
        turn[:, 2 * pairs + 1, 2 * pairs] = angles.sin()
        turn[:, 2 * pairs, 2 * pairs + 1] = -angles.sin()
        turn = turn.to(x.dtype)
        qr = torch.einsum("bthr,tsr->bths", self.W_qr(x).view(*x.shape[:2], H, R), turn)
        kr = torch.einsum("btr,tsr->bts", self.W_kr(x), turn)
        scores = (scores + torch.einsum("bihr,bjr->bhij", qr, kr)) / math.sqrt(K + R)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = torch.where(mask, -torch.inf, scores).softmax(-1)
            weights = torch.where(mask, 0.0, weights)
        return self.W_o(torch.einsum("bhij,bjhk->bihk", weights, v).flatten(2)), weights


# %% AnglesInABuffer
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model / n_heads != d_model // n_heads:
            raise ValueError(f"cannot cut d_model={d_model} into n_heads={n_heads}")
        if d_rope < 0 or d_rope & 1:
            raise ValueError(f"wrong d_rope={d_rope}")
        self.n_heads = n_heads
        self.W_q, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(d_latent, d_model, bias=False) for _ in range(2))
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_qr, self.W_kr = nn.Linear(d_model, n_heads * d_rope, False), nn.Linear(d_model, d_rope, False)
        exponents = [-i / d_rope for i in range(0, d_rope, 2)]
        self.register_buffer("exponents", torch.tensor(exponents, dtype=torch.float64), persistent=False)

    def rope(self, x):
        places = torch.arange(x.shape[-2], device=x.device)
        frequencies = torch.pow(10000.0, self.exponents.double())
        angles = (places[:, None] * frequencies).repeat_interleave(2, -1)
        swapped = torch.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        return x * angles.cos().to(x.dtype) + swapped * angles.sin().to(x.dtype)

    def heads(self, x):
        return torch.stack(x.chunk(self.n_heads, -1), 1)

    def forward(self, x, mask=None):
        c = self.W_c(x)
        value = self.heads(self.W_v(c))
        one = self.rope(self.W_kr(x)).unsqueeze(1)
        key = torch.cat([self.heads(self.W_k(c)), one.repeat(1, self.n_heads, 1, 1)], dim=-1)
        rotated = self.rope(self.heads(self.W_qr(x))) if self.W_kr.out_features else value[..., :0]
        query = torch.cat([self.heads(self.W_q(x)), rotated], dim=-1)
        scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(mask, -torch.inf)
            empty = mask.expand(scores.shape).all(-1, keepdim=True)
            weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
        else:
            weights = scores.softmax(-1)
        output = torch.cat(torch.matmul(weights, value).unbind(1), dim=-1)
        return self.W_o(output), weights


# %% RotationAsAModule
class Rope(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.frequencies = [10000.0 ** (-2 * i / width) for i in range(width // 2)]

    def forward(self, x):
        T = x.shape[-2]
        angles = torch.tensor([[p * f for f in self.frequencies] for p in range(T)], dtype=torch.float64)
        angles = angles.view(T, -1)
        cos, sin = angles.cos().to(x), angles.sin().to(x)
        a, b = x.unflatten(-1, (x.shape[-1] // 2, 2)).unbind(-1)
        return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).reshape(x.shape)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads must be at least 1, got {n_heads}")
        if d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model, got {n_heads} and {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope must be even and at least 0, got {d_rope}")
        self.n_heads = n_heads
        self.rope = Rope(d_rope)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, _ = x.shape
        H = self.n_heads
        R = self.W_kr.out_features
        c = self.W_c(x)
        content = self.W_q(x).reshape(B, T, H, -1).permute(0, 2, 1, 3)
        keys = self.W_k(c).reshape(B, T, H, -1).permute(0, 2, 3, 1)
        values = self.W_v(c).reshape(B, T, H, -1).permute(0, 2, 1, 3)
        places = self.W_qr(x).reshape(B, T, H, R).permute(0, 2, 1, 3)
        scale = 1 / math.sqrt(content.shape[-1] + R)
        scores = content @ keys
        if R > 0:
            scores = scores + self.rope(places) @ self.rope(self.W_kr(x)).transpose(1, 2)[:, None]
        scores = scores * scale
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        highest = scores.detach().amax(-1, keepdim=True).clamp_min(torch.finfo(x.dtype).min)
        grown = (scores - highest).exp()
        total = grown.sum(-1, keepdim=True)
        weights = grown / total.masked_fill(total == 0, 1.0)
        return self.W_o((weights @ values).permute(0, 2, 1, 3).flatten(2)), weights
