# a loop over the heads, with slices of the weights
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if not (n_heads >= 1 and d_model % n_heads == 0):
            raise ValueError(f"{d_model} columns (d_model) for n_heads={n_heads}")
        self.slices = [slice(i, i + d_model // n_heads) for i in range(0, d_model, d_model // n_heads)]
        self.rate = dropout
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        seen = x if context is None else context
        shut = None
        if mask is not None:
            shut = mask.expand(x.shape[0], len(self.slices), x.shape[1], seen.shape[1])
        output, maps = 0, []
        for h, rows in enumerate(self.slices):
            q, k, v = (F.linear(y, W.weight[rows]) for y, W in ((x, self.W_q), (seen, self.W_k), (seen, self.W_v)))
            scores = torch.baddbmm(
                torch.zeros((), dtype=q.dtype, device=q.device), q, k.mT, beta=0, alpha=q.shape[-1] ** -0.5
            )
            if shut is None:
                a = scores.softmax(-1)
            else:
                a = scores.masked_fill(shut[:, h], torch.finfo(scores.dtype).min).softmax(-1)
                a = a.masked_fill(shut[:, h], 0.0)
            a = F.dropout(a, self.rate, training=self.training)
            maps.append(a)
            output = output + F.linear(a @ v, self.W_o.weight[:, rows])
        return output, torch.stack(maps, dim=1)
