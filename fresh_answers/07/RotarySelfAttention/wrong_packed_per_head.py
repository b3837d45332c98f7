# the rows of W_qkv are read as q, k, v of head 0, then of head 1, not as all of q, all of k, all of v
import torch
import torch.nn as nn


def _rope(x, positions, base):
    half = x.shape[-1] // 2
    angles = torch.outer(positions.float(), base ** (-torch.arange(half, device=x.device) / half))
    cos, sin = angles.cos().type_as(x), angles.sin().type_as(x)
    even, odd = x.unflatten(-1, (half, 2)).unbind(-1)
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.heads = n_heads
        self.base = base
        self.W_qkv = nn.Linear(d_model, d_model * 3, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None, mask=None):
        batch, length, width = x.shape
        positions = torch.arange(length, device=x.device) if positions is None else positions
        packed = self.W_qkv(x).reshape(batch, length, self.heads, 3, width // self.heads)
        query, key, value = packed.permute(3, 0, 2, 1, 4)
        query, key = (_rope(t, positions, self.base) for t in (query, key))
        scores = torch.einsum("bhik,bhjk->bhij", query, key) / (width // self.heads) ** 0.5
        if mask is None:
            mask = torch.zeros(1, 1, dtype=torch.bool, device=x.device)
        weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1).masked_fill(mask, 0)
        out = torch.einsum("bhij,bhjk->bihk", weights, value)
        return self.W_o(out.reshape(batch, length, width)), weights
