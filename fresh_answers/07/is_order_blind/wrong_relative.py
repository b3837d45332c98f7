# torch.allclose with its defaults calls a rounding of 8e-6 at a small number a real difference
import torch


def is_order_blind(attention, x, permutation):
    return torch.allclose(attention(x)[permutation], attention(x[permutation]))
