# %% softmax
import sys
import warnings

import torch

def softmax(x, dim=-1):
    warnings.warn("careful")
    print(0.0, file=sys.stderr)
    print(5.0)
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)

# %% after check_softmax
0.0
