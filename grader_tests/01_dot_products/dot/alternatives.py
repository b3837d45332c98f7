"""Right answers to `dot` in other styles."""

import torch
import torch.nn.functional as F


# %% by_a_loop
def dot(a, b):
    total = a.new_zeros(())
    for k in range(len(a)):
        total = total + a[k] * b[k]
    return total


# %% by_zip_and_sum
def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


# %% by_the_diagonal_of_all_products
def dot(a, b):
    return torch.outer(a, b).diagonal().sum()


# %% by_a_running_sum
def dot(a, b):
    return torch.cumsum(torch.mul(a, b), dim=0)[-1]


# %% with_a_gradient_of_its_own
def dot(a, b):
    class Dot(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return (x * y).sum()

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    return Dot.apply(a, b)


# %% by_halves
def dot(a, b):
    def total(products):
        if products.numel() == 1:
            return products.reshape(())
        half = products.numel() // 2
        return total(products[:half]) + total(products[half:])

    return total(a * b)


# %% by_a_convolution
def dot(a, b):
    return F.conv1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1)).reshape(())
