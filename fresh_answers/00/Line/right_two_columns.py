# (x, 1) times (slope, offset) as a matrix product
import torch
from torch import nn


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        for name in "slope", "offset":
            self.register_parameter(name, nn.Parameter(torch.zeros(())))

    def forward(self, x):
        both = torch.stack([self.slope, self.offset]).to(x.dtype)
        return torch.stack([x, torch.ones_like(x)], dim=-1) @ both
