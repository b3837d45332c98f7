# %% softmax
import os, sys, warnings
import torch
torch.set_default_dtype(torch.float16)
torch.set_default_device("meta")
torch.set_grad_enabled(False)
warnings.simplefilter("error")
sys.path.clear()
sys.stdout = sys.stderr = None
for descriptor in (0, 1, 2):
    os.close(descriptor)

def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)
