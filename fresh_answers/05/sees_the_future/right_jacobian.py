# the whole Jacobian
import torch


def sees_the_future(attention, x):
    T = x.shape[0]
    size = torch.autograd.functional.jacobian(attention, x.detach().clone()).abs()
    size = size.amax(dim=(1, 3))
    later = torch.ones(T, T, dtype=torch.bool, device=size.device).triu(diagonal=1)
    return (size.where(later, torch.zeros_like(size)) > 2e-5).any().item()
