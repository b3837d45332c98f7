# the dimension is moved to the front, and the sum is a loop
import torch


def log_softmax(x, dim=-1):
    rows = x.movedim(dim, 0)
    top = rows[0]
    for row in rows[1:]:
        top = torch.maximum(top, row)
    top = top.detach()
    total = sum(torch.exp(row - top) for row in rows)
    return torch.stack([(row - top) - total.log() for row in rows]).movedim(0, dim)
