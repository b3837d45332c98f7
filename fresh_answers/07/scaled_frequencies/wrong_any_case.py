# the method is compared in lower case, so "YARN" is no ValueError
import math

import torch


def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    method = str(method).lower()
    i = torch.arange(0, dim, 2, dtype=torch.float64)
    if method == "base":
        return ((base * factor ** (dim / (dim - 2))) ** (-i / dim)).float()
    theta = base ** (-i / dim)
    if method == "interpolation":
        return (theta / factor).float()
    if method == "yarn":
        g = ((length * theta / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        return (g * theta + (1 - g) * theta / factor).float()
    raise ValueError(f"method {method!r} is not known")
