"""Right answers to `TransformerBlock` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% BlockOfNamedLayers
class TransformerBlock(nn.Module):
    """The layers of the mlp have names."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        layers = {"up": nn.Linear(d_model, 4 * d_model), "bend": nn.GELU(), "down": nn.Linear(4 * d_model, d_model)}
        self.mlp = nn.Sequential()
        for name, layer in layers.items():
            self.mlp.add_module(name, layer)

    def forward(self, x, mask=None):
        a = self.norm_1(x)
        x = x + self.attention(a, a, a, attn_mask=mask)[0]
        a = self.norm_2(x)
        return x + self.mlp.down(self.mlp.bend(self.mlp.up(a)))


# %% BlockWithWeightsReturned
class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_1 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        attended, _ = self.attention(normed, normed, normed, attn_mask=mask)
        h = torch.add(x, attended)
        return torch.add(h, self.mlp(self.norm_2(h)))


# %% BlockWithAMaskOfNumbers
class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        for name in ("norm_1", "norm_2"):
            self.add_module(name, nn.LayerNorm(d_model))
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout, False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), nn.GELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x, mask=None):
        if mask is not None:
            mask = torch.zeros(mask.shape, dtype=x.dtype, device=x.device).masked_fill(mask, float("-inf"))
        for norm, part in (
            (self.norm_1, lambda a: self.attention(a, a, a, attn_mask=mask)[0]),
            (self.norm_2, self.mlp),
        ):
            x = x + part(norm(x))
        return x


# %% BlockByHand
class TransformerBlock(nn.Module):
    """The layers hold the weights; forward computes with them itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def attend(self, a, mask):
        H = self.attention.num_heads
        q, k, v = (a @ self.attention.in_proj_weight.T).chunk(3, dim=-1)
        q, k, v = (t.unflatten(-1, (H, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = F.dropout(scores.softmax(-1), self.attention.dropout, self.training)
        return (weights @ v).transpose(1, 2).flatten(2) @ self.attention.out_proj.weight.T

    @staticmethod
    def normalise(x, norm):
        centred = x - x.mean(-1, keepdim=True)
        return norm.weight * centred / (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt() + norm.bias

    def forward(self, x, mask=None):
        x = x + self.attend(self.normalise(x, self.norm_1), mask)
        hidden = F.linear(self.normalise(x, self.norm_2), self.mlp[0].weight, self.mlp[0].bias)
        hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
        return x + F.linear(hidden, self.mlp[2].weight, self.mlp[2].bias)


# %% BlockByPyTorchsKernel
class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_2 = nn.LayerNorm(d_model)
        self.mlp = nn.Sequential()
        for part in (nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)):
            self.mlp.append(part)

    def forward(self, x, mask=None):
        allowed = None if mask is None else ~mask  # the other convention
        qkv = F.linear(self.norm_1(x), self.attention.in_proj_weight)
        q, k, v = qkv.unflatten(-1, (3, self.attention.num_heads, -1)).permute(2, 0, 3, 1, 4)
        p = self.attention.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=p)
        x = x + self.attention.out_proj(mixed.permute(0, 2, 1, 3).reshape(x.shape))
        return x + self.mlp(self.norm_2(x))


# %% BlockThatRecomputes
class TransformerBlock(nn.Module):
    """Attention with time first, and the mlp recomputed in the backward pass; sums in place on fresh tensors."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm((d_model,))
        self.attention = nn.MultiheadAttention(
            embed_dim=d_model, num_heads=n_heads, dropout=dropout, bias=False, batch_first=True
        )
        layers = [nn.Linear(d_model, 4 * d_model), nn.GELU(approximate="none"), nn.Linear(4 * d_model, d_model)]
        self.mlp = nn.Sequential(*layers)

    def forward(self, x, mask=None):
        from torch.utils.checkpoint import checkpoint

        a, part = self.norm_1(x).transpose(0, 1), self.attention
        total, _ = F.multi_head_attention_forward(
            a,
            a,
            a,
            part.embed_dim,
            part.num_heads,
            part.in_proj_weight,
            None,
            None,
            None,
            False,
            part.dropout,
            part.out_proj.weight,
            None,
            training=self.training,
            attn_mask=mask,
            need_weights=False,
        )
        total = total.transpose(0, 1) + x
        result = checkpoint(lambda y: self.mlp(self.norm_2(y)), total, use_reentrant=False)
        result += total
        return result


# %% BlockOfADictionary
class TransformerBlock(nn.ModuleDict):
    """The parts are items of the module itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        class Attention(nn.MultiheadAttention):
            def forward(self, x, mask):
                return super().forward(x, x, x, attn_mask=mask, need_weights=False)[0]

        super().__init__(
            {
                "norm_1": nn.LayerNorm(d_model),
                "norm_2": nn.LayerNorm(d_model),
                "attention": Attention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True),
                "mlp": nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)),
            }
        )

    def __getattr__(self, name):
        modules = self.__dict__["_modules"]
        return modules[name] if name in modules else super().__getattr__(name)

    def forward(self, x, mask=None):
        x = x + self["attention"](self["norm_1"](x), mask)
        return x + self["mlp"](self["norm_2"](x))
