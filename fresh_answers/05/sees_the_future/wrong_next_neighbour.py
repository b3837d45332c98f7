# only the input right after each output is looked at
import torch


def sees_the_future(attention, x):
    jacobian = torch.autograd.functional.jacobian(attention, x.detach())
    return any(bool((jacobian[i, :, i + 1].abs() > 1e-5).any()) for i in range(x.shape[0] - 1))
