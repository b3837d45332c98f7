# functions in a dictionary, numbers one at a time
from math import tau

import torch


def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    def yarn(i):
        t = base ** (-2 * i / dim)
        g = min(1.0, max(0.0, (length * t / tau - low) / (high - low)))
        return t * (g + (1 - g) / factor)

    recipes = {
        "base": lambda i: (base * factor ** (dim / (dim - 2))) ** (-2 * i / dim),
        "interpolation": lambda i: base ** (-2 * i / dim) / factor,
        "yarn": yarn,
    }
    if method not in recipes:
        raise ValueError(f"there is no method {method!r}; there are {', '.join(recipes)}")
    return torch.tensor([recipes[method](i) for i in range(dim // 2)], dtype=torch.float32)
