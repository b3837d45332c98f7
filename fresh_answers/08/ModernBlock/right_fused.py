# F.scaled_dot_product_attention, which this lesson allows, and complex rotation
import torch
import torch.nn.functional as F
from torch import nn


class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        sizes = dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (d_model, d_model))
        sizes |= {"W_gate": (d_model, hidden), "W_up": (d_model, hidden), "W_down": (hidden, d_model)}
        for name, (i, o) in sizes.items():
            setattr(self, name, nn.Linear(i, o, bias=False))
        for name in ("gain_1", "gain_2"):
            setattr(self, name, nn.Parameter(torch.ones(d_model)))
        self._heads = n_heads
        self._rotates = rotates

    def _split(self, x):
        return torch.stack(x.chunk(self._heads, dim=-1), dim=1)

    def _turned(self, x):
        if not self._rotates:
            return x
        T, K = x.shape[-2:]
        powers = torch.arange(K // 2, dtype=torch.float64, device=x.device) / (K // 2)
        angles = torch.arange(T, dtype=torch.float64, device=x.device)[:, None] / 10000.0**powers
        angles = angles.to(x.dtype)
        z = torch.complex(x[..., 0::2].contiguous(), x[..., 1::2].contiguous())
        return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2)

    @staticmethod
    def _norm(x, gain):
        return gain * (x / torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + 1e-6))

    def forward(self, x):
        y = self._norm(x, self.gain_1)
        q, k = (self._turned(self._split(layer(y))) for layer in (self.W_q, self.W_k))
        heads = F.scaled_dot_product_attention(q, k, self._split(self.W_v(y)), is_causal=True)
        x = x + self.W_o(torch.cat(heads.unbind(1), -1))
        y = self._norm(x, self.gain_2)
        gate = self.W_gate(y)
        return x + self.W_down(gate * gate.sigmoid() * self.W_up(y))
