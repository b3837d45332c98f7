"""Right answers to `dot` in other styles."""

import torch
import torch.nn.functional as F


# %% by_a_loop
def dot(a, b):
    if a.dim() != 1:
        raise ValueError(f"a must be one-dimensional, but its shape is {list(a.shape)}")
    if b.dim() != 1:
        raise ValueError(f"b must be one-dimensional, but its shape is {list(b.shape)}")
    if len(a) != len(b):
        raise ValueError(f"b has {len(b)} elements where a has {len(a)}")
    total = a.new_zeros(())
    for k in range(len(a)):
        total = total + a[k] * b[k]
    return total


# %% by_zip_and_sum
def dot(a, b):
    shapes = {"a": a.shape, "b": b.shape}
    for name, shape in shapes.items():
        if len(shape) != 1 or shape != a.shape:
            raise ValueError(f"{name}: expected shape (K,), got {shape}")
    return sum(x * y for x, y in zip(a, b, strict=True))


# %% by_the_diagonal_of_all_products
def dot(a, b):
    if not (a.ndim == b.ndim == 1 and a.size() == b.size()):
        raise ValueError(f"a.shape={tuple(a.shape)} does not fit b.shape={tuple(b.shape)}")
    return torch.outer(a, b).diagonal().sum()


# %% by_a_running_sum
def dot(a, b):
    if a.ndim != 1 or tuple(b.shape) != tuple(a.shape):
        raise ValueError("bad shapes: a is " + str(a.shape) + ", b is " + str(b.shape))
    return torch.cumsum(torch.mul(a, b), dim=0)[-1]


# %% with_a_gradient_of_its_own
def dot(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.shape[0] != b.shape[0]:
        raise ValueError(f"a {tuple(a.shape)} and b {tuple(b.shape)} should both be (K,)")

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
    if a.ndim != 1 or b.ndim != 1 or a.numel() != b.numel():
        raise ValueError(f"The argument a has shape {tuple(a.shape)}; the argument b has shape {tuple(b.shape)}.")

    def total(products):
        if products.numel() == 1:
            return products.reshape(())
        half = products.numel() // 2
        return total(products[:half]) + total(products[half:])

    return total(a * b)


# %% telling_the_values
def dot(a, b):
    if not (a.ndim == 1 and a.shape == b.shape):
        raise ValueError(f"no dot product for a = {a} and b = {b}")
    return F.conv1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1)).reshape(())
