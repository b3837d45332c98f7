"""Right answers to `rope_frequencies` in other styles."""

import math

import torch


# %% one_over_a_power
def rope_frequencies(dim, base=10000.0):
    if dim % 2 != 0:
        raise ValueError(f"expected an even dim, got {dim}")
    return 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))


# %% by_exp_and_log
def rope_frequencies(dim, base=10000.0):
    pairs = dim // 2
    return torch.exp(torch.arange(pairs, dtype=torch.float32) * (-math.log(base) / pairs))


# %% by_a_running_product
def rope_frequencies(dim, base=10000.0):
    steps = torch.full((dim // 2,), base ** (-2 / dim))
    steps[0] = 1.0
    return steps.cumprod(0)


# %% by_logspace
def rope_frequencies(dim, base=10000.0):
    return torch.logspace(0, -(dim - 2) / dim, steps=dim // 2, base=base)


# %% in_double_and_rounded
def rope_frequencies(dim, base=10000.0):
    exponents = torch.linspace(0, -1, dim // 2 + 1, dtype=torch.float64)[:-1]
    return torch.pow(torch.tensor(base, dtype=torch.float64), exponents).to(torch.float32)


# %% by_a_loop
def rope_frequencies(dim, base=10000.0):
    made = torch.zeros(dim // 2)
    for i in range(len(made)):
        made[i] = base ** -(2 * i / dim)
    return made


# %% by_powers_of_two
def rope_frequencies(dim, base=10000.0):
    return torch.exp2(-math.log2(base) * torch.arange(dim)[::2] / dim).reciprocal().pow(-1)
