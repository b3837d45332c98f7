# %% softmax
import torch

def Softmax(x, dim=-1):
    e = torch.exp(x - torch.amax(x, dim, True))
    return e / torch.sum(e, dim, keepdim=True)
