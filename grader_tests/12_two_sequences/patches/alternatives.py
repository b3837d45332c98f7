"""Right answers to `patches` in other styles."""

import torch
import torch.nn.functional as F


# %% patches_by_view_and_permute
def patches(images, size):
    B, C, H, W = images.shape
    if size < 1 or H % size != 0 or W % size != 0:
        raise ValueError(f"images of shape {tuple(images.shape)} cannot be cut into squares of size {size}")
    cut = images.reshape(B, C, H // size, size, W // size, size)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(B, (H // size) * (W // size), C * size * size)


# %% patches_by_unfold
def patches(images, size):
    for name, side in (("height", images.shape[2]), ("width", images.shape[3])):
        if size < 1 or side % size:
            raise ValueError(f"size={size} does not divide the {name}, {side}")
    return F.unfold(images, kernel_size=size, stride=size).transpose(1, 2)


# %% patches_one_by_one
def patches(images, size):
    B, C, H, W = images.shape
    if size <= 0 or H % size or W % size:
        raise ValueError(f"size is {size}, but the images are {H} x {W}")
    rows = []
    for top in range(0, H, size):
        for left in range(0, W, size):
            square = images[:, :, top : top + size, left : left + size]
            rows.append(square.reshape(B, -1))
    return torch.stack(rows, 1)


# %% patches_by_tensor_unfold
def patches(images, size):
    if size < 1 or any(side % size for side in images.shape[-2:]):
        raise ValueError("size must divide height and width, and is %s" % size)
    windows = images.unfold(2, size, size).unfold(3, size, size)  # (B, C, rows, columns, size, size)
    return windows.movedim(1, 3).flatten(3).flatten(1, 2)


# %% patches_by_a_convolution
def patches(images, size):
    B, C, H, W = images.shape
    if not size > 0 or H % size + W % size > 0:
        raise ValueError(f"size: {size}, height: {H}, width: {W}")
    one_hot = torch.eye(C * size * size, dtype=images.dtype, device=images.device).view(-1, C, size, size)
    return F.conv2d(images, one_hot, stride=size).flatten(2).mT
