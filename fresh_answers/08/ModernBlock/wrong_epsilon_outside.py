# 1e-6 is added to the root, not below it
import torch
from torch import nn
from torch.nn.functional import silu


class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1 = nn.Parameter(torch.ones(d_model))
        self.gain_2 = nn.Parameter(torch.ones(d_model))
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def norm(self, x, gain):
        return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6) * gain

    def rope(self, x):
        T, K = x.shape[-2:]
        theta = 10000.0 ** (-torch.arange(0, K, 2, device=x.device) / K)
        angle = torch.outer(torch.arange(T, device=x.device).float(), theta)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def forward(self, x):
        B, T, D = x.shape
        y = self.norm(x, self.gain_1)
        q, k, v = (f(y).view(B, T, self.n_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = self.rope(q), self.rope(k)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        a = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(future, float("-inf")).softmax(-1)
        x = x + self.W_o((a @ v).transpose(1, 2).reshape(B, T, D))
        y = self.norm(x, self.gain_2)
        return x + self.W_down(silu(self.W_gate(y)) * self.W_up(y))
