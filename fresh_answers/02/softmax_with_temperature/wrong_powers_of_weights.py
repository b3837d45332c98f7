# the weights at temperature 1 are raised to 1 / temperature, so those that are 0 by underflow stay 0 at a high temperature
import torch


def softmax_with_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature = {temperature}, but must be greater than 0")
    cold = torch.exp(x - x.amax(dim, keepdim=True))
    cold = cold / cold.sum(dim, keepdim=True)
    warm = cold ** (1 / temperature)
    return warm / warm.sum(dim, keepdim=True)
