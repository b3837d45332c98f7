"""Right answers to `swiglu`."""

import torch
import torch.nn.functional as F


# %% by_matrices
def swiglu(x, W_gate, W_up, W_down):
    gate = F.silu(x @ W_gate.T)  # (..., F)
    return (gate * (x @ W_up.T)) @ W_down.T


# %% with_a_sigmoid
def swiglu(x, W_gate, W_up, W_down):
    gate, up = F.linear(x, torch.cat([W_gate, W_up])).chunk(2, dim=-1)
    return F.linear(up * gate * torch.sigmoid(gate), W_down)
