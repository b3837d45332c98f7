# the gradient of the sum of an output's entries is looked at, in which dependencies of opposite sign cancel
import torch


def sees_the_future(attention, x):
    z = x.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        out = attention(z)
        for i in range(len(z) - 1):
            if not out.requires_grad:
                return False
            (g,) = torch.autograd.grad(out[i].sum(), z, retain_graph=True, allow_unused=True)
            if g is not None and g[i + 1 :].abs().max() > 1e-5:
                return True
    return False
