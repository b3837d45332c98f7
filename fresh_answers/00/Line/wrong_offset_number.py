# the offset is taken as a plain number, so no gradient reaches it
import torch
from torch import nn


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(0.0))
        self.offset = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        return torch.full_like(x, self.offset.item()) + x * self.slope
