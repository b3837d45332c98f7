# %% softmax
import functools

import torch

def remember(f):
    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapped

class Soft:
    @remember
    def weights(self, x, dim=-1):
        e = torch.exp(x - torch.amax(x, dim, True))
        return e / torch.sum(e, dim, keepdim=True)

softmax = Soft().weights
