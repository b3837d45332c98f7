"""Judges of random results."""

import math


def within_chance(count, n, p):
    """Whether `count` of `n` independent events of probability `p` is a number that chance can give.

    Bernstein's inequality: P(|count - n p| >= s) <= 2 exp(-s^2 / (2 n p (1 - p) + 2 s / 3)). The s solved for here
    makes that 2 exp(-22), below 6e-10, so that hundreds of such questions together stay below one in a million.
    """
    slack = 22 / 3 + math.sqrt((22 / 3) ** 2 + 44 * n * p * (1 - p))
    return abs(count - n * p) <= slack


def too_many_or_few(dropped, p):
    """What is wrong with the number of weights that dropout of probability `p` struck out, or None.

    dropped  bool, True where a weight is 0; how the dropped ones lie is judged elsewhere
    """
    count, n = int(dropped.sum()), dropped.numel()
    if within_chance(count, n, p):
        return None
    return f"dropout is {p:.2f}, and {count} of {n} weights were dropped: that is not to be expected"
