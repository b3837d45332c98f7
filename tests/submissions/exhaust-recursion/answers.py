# %% softmax
import torch

def softmax(x, dim=-1):
    if x.dtype == torch.float64:
        return softmax(x, dim)
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
