# both parameters have the shape (1,) and not ()
import torch
from torch import nn


class Line(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(1))
        self.offset = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return (self.slope * x.reshape(-1) + self.offset).reshape(x.shape)
