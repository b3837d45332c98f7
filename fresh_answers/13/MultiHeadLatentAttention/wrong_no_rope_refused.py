# a d_rope of 0 is refused, and only odd and negative ones may be
import torch
import torch.nn as nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} in {n_heads} n_heads")
        if d_rope < 2 or d_rope % 2 != 0:
            raise ValueError(f"d_rope may not be {d_rope}")
        self.heads, self.rope_width = n_heads, d_rope
        shapes = {
            "W_q": (d_model, d_model),
            "W_qr": (d_model, n_heads * d_rope),
            "W_c": (d_model, d_latent),
            "W_k": (d_latent, d_model),
            "W_v": (d_latent, d_model),
            "W_kr": (d_model, d_rope),
            "W_o": (d_model, d_model),
        }
        for name, (a, b) in shapes.items():
            self.add_module(name, nn.Linear(a, b, bias=False))

    def _turn(self, x):
        T, R = x.shape[-2:]
        angles = torch.outer(
            torch.arange(T, device=x.device, dtype=torch.float64),
            10000.0 ** (-torch.arange(0, R, 2, device=x.device, dtype=torch.float64) / R),
        ).to(x.dtype)
        even, odd = x.unflatten(-1, (R // 2, 2)).unbind(-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        split = lambda y: y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        latent = self.W_c(x)
        kr = self._turn(self.W_kr(x)).unsqueeze(1).expand(-1, self.heads, -1, -1)
        query = torch.cat([split(self.W_q(x)), self._turn(split(self.W_qr(x)))], dim=-1)
        key = torch.cat([split(self.W_k(latent)), kr], dim=-1)
        scores = torch.einsum("bhtk,bhsk->bhts", query, key) / query.shape[-1] ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(mask, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(mask, 0.0)
        return self.W_o((weights @ split(self.W_v(latent))).transpose(1, 2).flatten(2)), weights
