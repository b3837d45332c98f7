"""Right answers to `cache_bytes` in other styles."""

import math

import torch


# %% as_a_product
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    for name, number in locals().copy().items():
        if number < 0:
            raise ValueError(f"{name} = {number} is negative")
    return math.prod((2, n_layers, n_kv_heads, d_head, length, batch_size, element_bytes))


# %% keys_then_values
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    numbers = dict(n_layers=n_layers, n_kv_heads=n_kv_heads, d_head=d_head, length=length)
    numbers.update(batch_size=batch_size, element_bytes=element_bytes)
    wrong = [name for name, number in numbers.items() if number < 0]
    if wrong:
        raise ValueError(f"{wrong[0]} must be at least 0, not {numbers[wrong[0]]}")
    keys = batch_size * n_kv_heads * length * d_head
    values = keys
    return n_layers * (keys + values) * element_bytes


# %% by_the_size_of_a_tensor
def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    sizes = [n_layers, 2, batch_size, n_kv_heads, length, d_head]
    names = ["n_layers", "", "batch_size", "n_kv_heads", "length", "d_head"]
    for name, size in [*zip(names, sizes), ("element_bytes", element_bytes)]:
        if size < 0:
            raise ValueError("%s: %d" % (name, size))
    return torch.empty(sizes, device="meta").numel() * element_bytes
