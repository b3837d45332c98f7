"""Cases of `tiled_attention` that are measured: what was made on the way to the result, and how much multiplied."""

from grading.exercises.exercise import Script, helper, student

from .. import common
from ..common import DEFAULT, drawn, sized, told


def some_open(draw, *shape):
    """A random mask in which every row sees the first key, too: no row begins with a tile of which it sees nothing.

    What such tiles cost is asked by cases of their own, and not by chance.
    """
    mask = common.some_open(draw, *shape)
    mask[..., 0] = False
    return mask


def measured(draw, *leading, T, S, K, V, tile=None, mask=None):
    """A call of which the largest tensor and the products are noted; a query and a key need K + V multiplications.

    Without a tile it is the default one. Where K and V are 1, even products that are not summed up yet are as many as
    scores.
    """
    query, key, value = drawn(draw, *leading, T=T, S=S, K=K, V=V)
    s = Script(query=query, key=key, value=value, **({} if mask is None else {"mask": mask}))
    masked = {} if mask is None else {"mask": s.mask}
    s.call(helper("measured"), student("tiled_attention"), s.query, s.key, s.value, **masked, **sized(tile))
    pairs = T * S
    for length in leading:
        pairs *= length
    # A column of ones beside values of width 1, which gives the sums, is half as much again: only wide keys can tell
    once = pairs * (K + V) if K > 1 else 10**9
    # Every operation is looked at, which makes it slower: whoever goes query by query needs its time
    case = s.case().check_with("computed_in_tiles", scores=[*leading, T, tile or DEFAULT], products=once).timeout(20)
    blocked = "" if mask is None else " and a mask"
    return case.label(f"{T} queries of width {K}, {S} keys{blocked}{told(tile)}: what is made on the way")
