# %% softmax
import torch

def softmax(x, dim=-1):
    rows = []
    for row in x.movedim(dim, -1).reshape(-1, x.shape[dim]):
        shifted = row - max(row.detach().tolist())
        rows.append(shifted.exp() / shifted.exp().sum())
    moved = x.movedim(dim, -1)
    return torch.stack(rows).reshape(moved.shape).movedim(-1, dim)
