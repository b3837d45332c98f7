# a temperature of NaN is not refused
import torch


def softmax_with_temperature(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0: {temperature}")
    z = x / temperature
    e = torch.exp(z - z.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
