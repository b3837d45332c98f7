"""`append_to_cache`: keys and values of new positions, after the cached ones."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.elsewhere import filled_elsewhere
from .cases import kept, new, two_ways_on

append_to_cache = exercise(
    "append_to_cache",
    result_names=("keys", "values"),
    see="Exercise: `append_to_cache(cache, key, value)`",
    hints=(
        "Which of the four dimensions grows when a token is added? All others stay as they are.",
        "Without a cache the new keys and values are all there is. With one they come after what is kept, along the "
        "dimension of positions; joining makes new tensors, and leaves the old ones as they were.",
        "If `cache is None`, return the pair unchanged. Else take the pair apart, compare batch, heads and widths, "
        "raise a ValueError where they differ, and return both joined by `torch.cat` along the last dimension but "
        "one.",
    ),
)


@append_to_cache.oracle
def append_to_cache_oracle(cache, key, value):
    if cache is None:
        return key, value
    for name, old, more in (("key", cache[0], key), ("value", cache[1], value)):
        if old.shape[:2] != more.shape[:2] or old.shape[-1] != more.shape[-1]:
            raise ValueError(f"{name} is {tuple(more.shape)}, which does not follow {tuple(old.shape)}")
    return torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)


ONE = torch.tensor([[[[1.0, 2.0]]]])

append_to_cache.example("nothing is kept yet", call(None, ONE, -ONE), check_types=True)
append_to_cache.example("one token after one", call((ONE, -ONE), 10 * ONE, -10 * ONE))
append_to_cache.example("keys of another width", call((ONE, -ONE), torch.ones(1, 1, 1, 3), ONE).raises("key"))


@append_to_cache.criterion("nothing is kept yet", points=0.25)
def _(draw):
    yield call(None, *new(draw))
    yield call(cache=None, key=draw.normal(1, 2, 1, 3), value=draw.normal(1, 2, 1, 5))
    yield call(None, *new(draw, B=2, H=1, T=1, V=1)).label("one head, one token, and values of one number")


@append_to_cache.criterion("new ones come after those that are kept", points=0.5)
def _(draw):
    yield call(kept(draw), *new(draw))
    yield call(kept(draw, S=1), *new(draw, T=1))
    yield call(kept(draw, S=7), *new(draw, T=draw.integer(2, 6)))
    yield call(kept(draw, S=2, V=1), *new(draw, T=9, V=1))
    yield call(kept(draw, B=1, H=1), *new(draw, B=1, H=1))
    yield call(kept(draw, V=5), *new(draw, V=5))
    yield call(
        kept(draw, B=1, H=1, S=1100, K=2, V=1), *new(draw, B=1, H=1, K=2, V=1)
    )  # longer than a precomputed table
    yield two_ways_on(draw)


@append_to_cache.criterion("ValueError where batch, heads or widths differ", points=0.5)
def _(draw):
    key, value = new(draw)
    yield call(kept(draw, B=1), key, value).raises("key", "value", "cache")
    yield call(kept(draw, H=1), key, value).raises("key", "value", "cache")
    yield call(kept(draw, K=1), key, value).raises("key", "cache")
    yield call(kept(draw, V=1), key, value).raises("value", "cache")
    yield call(kept(draw, B=3, H=2), key, value).raises("key", "value", "cache")  # as many heads in total
    yield call(kept(draw, K=6, V=5), key, value).raises("key", "value", "cache")  # the same total width
    yield call(kept(draw, B=1, K=1, V=1), key, value).raises("key", "value", "cache")  # in both at once
    for size in ("B", "H"):  # the other way round, where the new ones would be repeated
        yield call(kept(draw), *new(draw, **{size: 1})).raises("key", "value", "cache")
    yield call(kept(draw), *new(draw, K=1)).raises("key", "cache")
    yield call(kept(draw), *new(draw, V=1)).raises("value", "cache")
    yield call(kept(draw, S=9), key, value).does_not_raise()


@append_to_cache.criterion("gradients", points=0.25)
def _(draw):
    yield call(kept(draw), *new(draw)).with_gradients()
    yield call(None, *new(draw)).with_gradients()


@append_to_cache.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    # Nothing is computed, so results must be exact: float64's usual tolerance would not show a detour by float32
    yield call(kept(draw, dtype=torch.float64), *new(draw, dtype=torch.float64)).tolerance(1e-12)
    yield call(kept(draw), *new(draw))
    yield call(None, *new(draw, dtype=torch.float64)).tolerance(1e-12)
    yield call(None, *new(draw))
    yield call(tuple(map(non_contiguous, kept(draw))), *map(non_contiguous, new(draw))).does_not_mutate()
    yield call(kept(draw), *new(draw)).device_only()
    yield filled_elsewhere("append_to_cache", kept(draw), *new(draw))
