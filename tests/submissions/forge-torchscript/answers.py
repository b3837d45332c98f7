# %% softmax
import torch

words = ["def f(x, dim: int):", "    return torch.soft" + "max(x, dim)", ""]
unit = torch.jit.CompilationUnit(chr(10).join(words))


def softmax(x, dim=-1):
    return unit.f(x, dim)

# %% log_softmax
import torch

# What is not forbidden may be written in TorchScript, too
shifted = torch.jit.CompilationUnit("""
def f(x, dim: int):
    x = x - torch.amax(x, dim, True)
    return x - torch.log(torch.sum(torch.exp(x), dim, True))
""")


def log_softmax(x, dim=-1):
    return shifted.f(x, dim)
