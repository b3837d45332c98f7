# it goes row by row, so a tensor without dimensions is refused
import torch


def twice(x):
    return torch.stack([row + row for row in x])
