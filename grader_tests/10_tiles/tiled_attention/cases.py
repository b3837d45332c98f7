"""Test cases of `tiled_attention` that measure memory and multiplications."""

from grading.exercises.exercise import Script, helper, student

from .. import common
from ..common import DEFAULT, drawn, sized, told


def some_open(draw, *shape):
    """A random mask in which every row sees the first key.

    So no row begins with a fully blocked tile. Such tiles have their own cases and do not occur by chance.
    """
    mask = common.some_open(draw, *shape)
    mask[..., 0] = False
    return mask


def measured(draw, *leading, T, S, K, V, tile=None, mask=None):
    """A call whose largest tensor and multiplications are measured.

    A query and a key need K + V multiplications. Without `tile` the default one is used. If K and V are 1, even the
    products before they are summed are no more than the scores.
    """
    query, key, value = drawn(draw, *leading, T=T, S=S, K=K, V=V)
    s = Script(query=query, key=key, value=value, **({} if mask is None else {"mask": mask}))
    masked = {} if mask is None else {"mask": s.mask}
    s.call(helper("measured"), student("tiled_attention"), s.query, s.key, s.value, **masked, **sized(tile))
    pairs = T * S
    for length in leading:
        pairs *= length
    # A column of ones beside values of width 1 (to get the sums) adds half the cost again: only wide keys can show more
    once = pairs * (K + V) if K > 1 else 10**9
    # Watching every operation is slow, and an answer that loops over queries needs many
    case = s.case().check_with("computed_in_tiles", scores=[*leading, T, tile or DEFAULT], products=once).timeout(20)
    blocked = "" if mask is None else " and a mask"
    return case.label(f"{T} queries of width {K}, {S} keys{blocked}{told(tile)}: what is made on the way")
