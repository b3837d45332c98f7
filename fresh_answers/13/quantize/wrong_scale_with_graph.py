# the scale still has a graph, where the results have no gradient
import torch


def quantize(x, dim):
    largest = torch.amax(torch.abs(x), dim=dim, keepdim=True)
    scale = largest / 127.0
    divisor = torch.where(scale > 0, scale, torch.ones_like(scale)).detach()
    return (x.detach() / divisor).round().to(torch.int8), scale
