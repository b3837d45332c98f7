"""What several exercises of the lesson say."""

import math

import torch

from grading.judge.exercise import specimen


def within_chance(count, n, p):
    """Whether `count` of `n` independent events of probability `p` is a number that chance can give.

    Bernstein's inequality: P(|count - n p| >= s) <= 2 exp(-s^2 / (2 n p (1 - p) + 2 s / 3)). The s solved for here
    makes that 2 exp(-22), below 6e-10, so that hundreds of such questions together stay below one in a million.
    """
    slack = 22 / 3 + math.sqrt((22 / 3) ** 2 + 44 * n * p * (1 - p))
    return abs(count - n * p) <= slack


def window_state(draw, N=6, D=8, T=5, sharpness=1.0):
    """Weights for specimens.Windowed. With a sharpness of 6 the gradient is longer than 1, with 0.3 it is shorter."""
    return {
        "tokens.weight": draw.normal(N, D),
        "places.weight": draw.normal(T, D),
        "out.weight": draw.normal(N, D, scale=sharpness * D**-0.5),
    }


def windowed(state, **options):
    N, D = state["tokens.weight"].shape
    return specimen("Windowed", state, n_tokens=N, width=D, block_size=len(state["places.weight"]), **options)


def gentle():
    """For the visible examples: a model of two tokens whose gradient is short (norm 0.4), or, times 10, long."""
    return {
        "tokens.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "places.weight": torch.tensor([[1.0, 2.0], [1.0, 1.0]]),
        "out.weight": torch.tensor([[0.5, 0.0], [0.0, -0.5]]),
    }
