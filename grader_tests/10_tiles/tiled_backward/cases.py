"""Building blocks of the test cases of `tiled_backward`.

They make a forward pass, and a gradient with respect to its output.
"""

from grading.exercises.exercise import Script, helper, student

from ..common import DEFAULT, attended, drawn, far_out, sized, told


def passed(draw, *leading, V=3, **sizes):
    """(query, key, value, output, lse, grad_output) of a random forward pass."""
    given = drawn(draw, *leading, V=V, **sizes)
    output, lse = attended(*given)
    return *given, output, lse, draw.normal(*output.shape, dtype=output.dtype)


def far_out_passed(draw, **sizes):
    """As `passed`, for scores up to ±10,000."""
    given = far_out(draw, **sizes)
    output, lse = attended(*given)
    return *given, output, lse, draw.normal(*output.shape)


def measured(draw, *leading, T, S, K, V, tile=None):
    """A call whose largest tensor is measured; without `tile`, with the default tile.

    Multiplications are not limited, because the exercise states no limit.
    """
    names = ("query", "key", "value", "output", "lse", "grad_output")
    s = Script(**dict(zip(names, passed(draw, *leading, T=T, S=S, K=K, V=V), strict=True)))
    s.call(helper("measured"), student("tiled_backward"), *(getattr(s, name) for name in names), **sized(tile))
    case = s.case().check_with("computed_in_tiles", scores=[*leading, T, tile or DEFAULT], products=10**9).timeout(20)
    return case.label(f"{T} queries of width {K}, {S} keys{told(tile)}: what is made on the way")
