# the factor is a float64 tensor with one dimension, so a float32 input comes back as float64
import torch

FACTOR = torch.tensor([2.0], dtype=torch.float64)


def twice(x):
    return (x.unsqueeze(-1) * FACTOR.to(x.device)).squeeze(-1)
