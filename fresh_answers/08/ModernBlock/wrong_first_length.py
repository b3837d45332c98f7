# mask and angles are made at the first call, so that a longer text later is refused
import torch
from torch import nn
import torch.nn.functional as F


class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.W_q, self.W_k = linear(d_model, d_model), linear(d_model, d_model)
        self.W_v, self.W_o = linear(d_model, d_model), linear(d_model, d_model)
        self.W_gate, self.W_up, self.W_down = linear(d_model, hidden), linear(d_model, hidden), linear(hidden, d_model)
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.H = n_heads
        self.K = d_model // n_heads
        self.rotates = rotates
        self.tables = None

    def make(self, T, device):
        freq = torch.tensor([10000.0 ** (-2 * i / self.K) for i in range(self.K // 2)], device=device)
        turn = torch.arange(T, device=device)[:, None] * freq
        return turn.cos(), turn.sin(), torch.triu(torch.full((T, T), float("-inf"), device=device), 1)

    def forward(self, x):
        T = x.shape[1]
        if self.tables is None:
            self.tables = self.make(T, x.device)
        cos, sin, bias = (t[:T].to(x.dtype) for t in self.tables)
        bias = bias[:, :T]

        def turned(z):
            if not self.rotates:
                return z
            p, q = z[..., ::2], z[..., 1::2]
            return torch.stack((p * cos - q * sin, q * cos + p * sin), -1).reshape(z.shape)

        def rms(z, gain):
            return z * torch.rsqrt(z.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

        h = rms(x, self.gain_1)
        q = turned(self.W_q(h).unflatten(-1, (self.H, self.K)).transpose(1, 2))
        k = turned(self.W_k(h).unflatten(-1, (self.H, self.K)).transpose(1, 2))
        v = self.W_v(h).unflatten(-1, (self.H, self.K)).transpose(1, 2)
        w = torch.softmax(q @ k.transpose(-2, -1) / self.K**0.5 + bias, dim=-1)
        x = x + self.W_o((w @ v).transpose(1, 2).flatten(2))
        h = rms(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))
