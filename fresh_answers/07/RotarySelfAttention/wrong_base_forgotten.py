# base is kept, but the rotation always uses 10000
import torch
from torch import nn


class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.base = base
        self.n_heads = n_heads
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    @staticmethod
    def rotate(x, positions, base=10000.0):
        K = x.shape[-1]
        angle = positions.to(torch.float32).unsqueeze(-1) * base ** (-torch.arange(0, K, 2, device=x.device) / K)
        z = torch.complex(x[..., ::2].contiguous(), x[..., 1::2].contiguous())
        z = z * torch.complex(angle.cos(), angle.sin()).to(z.dtype)
        return torch.view_as_real(z).flatten(-2)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        q, k, v = self.W_qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        q = self.rotate(q, positions)
        k = self.rotate(k, positions)
        s = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        if mask is None:
            w = s.softmax(-1)
        else:
            w = s.masked_fill(mask, -1e30).softmax(-1).masked_fill(mask, 0)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w
