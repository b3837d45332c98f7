"""Constants and helpers that several exercises of the lesson share."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method

from ..shared.families import calls

# torch's own products, which `dot` and `score_each` may not use
PRODUCTS = (".*dot", "inner", ".*matmul", ".*mm", "(add)?mv", "einsum", "((lazy)?bi|tri|lazy|mkldnn)?linear")


def a_pair(draw, *shape, sign=1.0, dtype=torch.float32):
    """Two tensors of partly aligned vectors, so that no dot product nearly cancels.

    Otherwise the result would depend on the order of additions, and any order is right.
    """
    a = draw.normal(*shape, dtype=dtype)
    return a, sign * (0.7 * a + 0.7 * draw.normal(*shape, dtype=dtype).abs() * a.sign())


def changed_since(before, then):
    """Two calls with the same tensors, which get the numbers of `then` in between.

    Both tensors are filled again, so that an answer which writes into its arguments loses nothing here.
    """
    s = Script(first=before[0], second=before[1], then_first=then[0], then_second=then[1])
    s.call(EXERCISE, s.first, s.second)
    s.call(method(s.first, "copy_"), s.then_first)
    s.call(method(s.second, "copy_"), s.then_second)
    s.call(EXERCISE, s.first, s.second)
    return s.case().label("the second of two calls with the same tensors, which hold other numbers by then")


def remembers_tensors(right, *, loses):
    """Add a known mistake: an answer that caches results by tensor, not by numbers."""
    right.exercise.mistake(calls.tensors_remembered, loses=loses).full_code(f"""
import functools


@functools.cache
{right.code.strip()}
""")
