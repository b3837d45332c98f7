"""Building blocks of the test cases of `attend_with_cache`: all sizes differ."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method, ref


def fresh(draw, B=2, H=3, T=4, K=5, V=6, **options):
    """Queries, keys and values of new positions."""
    return tuple(draw.normal(B, H, T, width, **options) for width in (K, K, V))


def kept(draw, B=2, H=3, S=7, K=5, V=6, **options):
    return draw.normal(B, H, S, K, **options), draw.normal(B, H, S, V, **options)


def as_split(tensor):
    """The same values with the memory order of a split into heads: positions, then heads."""
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


def on_paper():
    """One query of width 4, its own key and a cached one: scaled scores (4, 1)."""
    one, four = torch.tensor([[[[1.0, 0, 0, 0]]]]), torch.tensor([[[[4.0, 0, 0, 0]]]])
    return 2 * one, one, torch.tensor([[[[7.0]]]]), (four, torch.tensor([[[[5.0]]]]))


def far_below(arguments):
    """Change arguments so that all scores are far below 0, and a fill of -10 is large."""
    query, key, value, *cache = arguments
    below = [(-old.abs() - 2.0, values) for old, values in cache]
    return query.abs() + 2.0, -key.abs() - 2.0, value, *below


def handed_on(s, piece, name):
    """A piece's cache, converted to float32: another criterion checks the dtype."""
    if piece is None:
        return None
    return tuple(s.call(method(ref(f"piece_{piece}", 2, half), "float"), name=f"{name}_{half}") for half in (0, 1))


def in_pieces(draw):
    """Pieces of three, one and two tokens; then two others instead of the last two.

    Only the cache that is passed on may carry state.
    """
    s = Script()
    for n, size in enumerate((3, 1, 2, 2)):
        s.inputs |= dict(zip((f"query_{n}", f"key_{n}", f"value_{n}"), fresh(draw, T=size), strict=True))
        after = handed_on(s, (None, 0, 1, 1)[n], name=f"cache_{n}")
        s.call(EXERCISE, *(ref(f"{name}_{n}") for name in ("query", "key", "value")), after, name=f"piece_{n}")
    pieces = [ref(f"piece_{n}") for n in range(4)]
    return s.case(*pieces).label("pieces of three, one and two tokens, and two others after the four")
