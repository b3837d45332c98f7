# %% softmax
import torch

def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)

# %% after check_softmax
for _ in range(100_000):
    print("x" * 500)
display("flooded canary-7f3a")
