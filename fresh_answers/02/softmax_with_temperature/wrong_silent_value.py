# the message names the argument, but not its value
import torch


def softmax_with_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError("the temperature has to be a positive number")
    y = x / temperature
    y = torch.exp(y - y.max(dim, keepdim=True)[0])
    return y.div(y.sum(dim, keepdim=True))
