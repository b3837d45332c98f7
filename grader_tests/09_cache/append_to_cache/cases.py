"""Building blocks of the test cases of `append_to_cache`: all sizes differ."""

from grading.exercises.exercise import EXERCISE, Script


def kept(draw, B=2, H=3, S=4, K=5, V=6, **options):
    return draw.normal(B, H, S, K, **options), draw.normal(B, H, S, V, **options)


def new(draw, B=2, H=3, T=2, K=5, V=6, **options):
    return draw.normal(B, H, T, K, **options), draw.normal(B, H, T, V, **options)


def two_ways_on(draw):
    """One cache continued in two ways, which must not change each other or their start."""
    first, *ways = new(draw, T=3), new(draw), new(draw)
    s = Script(key=first[0], value=first[1])
    shared = s.call(EXERCISE, None, s.key, s.value, name="shared")
    for name, (key, value) in zip(("one", "other"), ways, strict=True):
        s.inputs |= {f"key_of_{name}": key, f"value_of_{name}": value}
    one = s.call(EXERCISE, shared, s.key_of_one, s.value_of_one, name="one")
    other = s.call(EXERCISE, shared, s.key_of_other, s.value_of_other, name="other")
    return s.case(shared, one, other).label("two ways on from one cache of three tokens")
