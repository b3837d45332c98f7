"""Test cases of `causal_tiled_attention` that measure memory and multiplications."""

from math import prod

from grading.exercises.exercise import Script, helper, student

from ..common import DEFAULT, drawn, sized, told


def pairs(T, tile):
    """Pairs of a query and a key in the blocks on and below the diagonal."""
    return sum(min(tile, T - first) * min(T, first + tile) for first in range(0, T, tile))


def measured(draw, *leading, T, K, V, tile=None):
    """A call whose largest tensor and multiplications are measured; see `tiled_attention`."""
    query, key, value = drawn(draw, *leading, T=T, S=T, K=K, V=V)
    s = Script(query=query, key=key, value=value)
    s.call(helper("measured"), student("causal_tiled_attention"), s.query, s.key, s.value, **sized(tile))
    side = tile or DEFAULT
    # With K and V 1, products before they are summed are no more than scores, and a column of ones adds half the cost
    once = prod(leading) * pairs(T, side) * (K + V) if K > 1 else 10**9
    largest = max([side, side], [T, max(K, V)], key=prod)
    case = s.case().check_with("computed_in_blocks", scores=[*leading, *largest], products=once).timeout(20)
    return case.label(f"{T} queries and keys of width {K}{told(tile)}: what is made on the way")
