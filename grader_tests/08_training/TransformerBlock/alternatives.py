"""Right answers to `TransformerBlock` in other styles."""

import torch
import torch.nn.functional as F
from torch import nn


# %% BlockOfFunctions
class TransformerBlock(nn.Module):
    """Its two halves are methods of their own."""

    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.attention = attention
        self.gain_1 = nn.Parameter(torch.ones(d_model))
        self.gain_2 = nn.Parameter(torch.ones(d_model))
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    @staticmethod
    def norm(x, gain):
        return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-6) * gain

    def attend(self, a, mask):
        output, _ = self.attention(a, mask=mask)
        return output

    def mlp(self, a):
        return self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm(x, self.gain_1), mask)
        return x + self.mlp(self.norm(x, self.gain_2))


# %% BlockWithoutLayers
class TransformerBlock(nn.Module):
    """Gate and up in one product, with the weights of the layers."""

    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_gate, self.W_up, self.W_down = (
            nn.Linear(d_model, hidden, False),
            nn.Linear(d_model, hidden, False),
            nn.Linear(hidden, d_model, False),
        )
        self.attention = attention

    def forward(self, x, mask=None):
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.gain_1
        x = x + self.attention(normed, mask=mask)[0]
        normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.gain_2
        gate, up = F.linear(normed, torch.cat([self.W_gate.weight, self.W_up.weight])).chunk(2, dim=-1)
        return x + F.linear(F.silu(gate).mul(up), self.W_down.weight)


# %% BlockByLengths
class TransformerBlock(nn.Module):
    """Lengths in place of means; silu from its definition; parts made in a loop."""

    def __init__(self, attention, d_model, hidden):
        super().__init__()
        layers = {"W_gate": (d_model, hidden), "W_up": (d_model, hidden), "W_down": (hidden, d_model)}
        for name, (n_in, n_out) in layers.items():
            setattr(self, name, nn.Linear(n_in, n_out, bias=False))
        for i in (1, 2):
            self.register_parameter(f"gain_{i}", nn.Parameter(torch.ones(d_model)))
        self.add_module("attention", attention)

    def normalised(self, x, gain):
        length = x.pow(2).sum(dim=-1, keepdim=True)
        return gain * x / (length / x.shape[-1] + 1e-6).sqrt()

    def forward(self, x, mask=None):
        pair = self.attention(self.normalised(x, self.gain_1), mask=mask)
        x = torch.add(x, pair[0])
        a = self.normalised(x, self.gain_2)
        gate = self.W_gate(a)
        return x + self.W_down(gate * self.W_up(a) / (1 + torch.exp(-gate)))


# %% BlockByMethods
class TransformerBlock(nn.Module):
    """Methods in a row, and the sum with x last."""

    def __init__(self, attention: nn.Module, d_model: int, hidden: int) -> None:
        super().__init__()
        linear = lambda n, m: nn.Linear(n, m, bias=False)  # noqa: E731
        self.attention = attention
        self.W_gate, self.W_up, self.W_down = linear(d_model, hidden), linear(d_model, hidden), linear(hidden, d_model)
        self.gain_1, self.gain_2 = nn.Parameter(torch.full((d_model,), 1.0)), nn.Parameter(torch.ones((d_model,)))

    def forward(self, x, mask=None):
        norm = lambda x, gain: x.div(x.pow(2).mean(-1, True).add(1e-6).sqrt()).mul(gain)  # noqa: E731
        x = self.attention(norm(x, self.gain_1), mask=mask)[0] + x
        normed = norm(x, self.gain_2)
        return self.W_down(self.W_gate(normed).sigmoid() * self.W_gate(normed) * self.W_up(normed)) + x


# %% BlockThatAddsToFreshTensors
class TransformerBlock(nn.Module):
    """Sums in place, on tensors that are its own."""

    def __init__(self, attention, d_model, hidden):
        super().__init__()
        for name in ("gain_2", "gain_1"):
            setattr(self, name, nn.Parameter(torch.ones(d_model)))
        self.W_down = nn.Linear(hidden, d_model, bias=False)
        self.W_up, self.W_gate = nn.Linear(d_model, hidden, bias=False), nn.Linear(d_model, hidden, bias=False)
        self.attention = attention

    def forward(self, x, mask=None):
        norm = torch.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
        total = x + self.attention(x * self.gain_1 * (norm + 1e-6) ** -0.5, mask=mask)[0]
        norm = torch.einsum("...d,...d->...", total, total)[..., None] / x.shape[-1]
        a = total * self.gain_2 * (norm + 1e-6) ** -0.5
        result = self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))
        result += total
        return result
