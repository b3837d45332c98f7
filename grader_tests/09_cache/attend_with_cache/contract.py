"""`attend_with_cache`: causal attention of new positions to the cache and themselves."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from .cases import as_split, far_below, fresh, in_pieces, kept, on_paper

attend_with_cache = exercise(
    "attend_with_cache",
    result_names=("output", "weights", "cache"),
    forbidden=BUILT_IN,
    see="Exercise: `attend_with_cache(query, key, value, cache=None)`",
    hints=(
        "A new token asks. Whom may it ask: how many keys are there, and where does it stand among them?",
        "First the new keys and values join those that are kept; then it is attention as in lesson 05, with more "
        "keys than queries. The queries are the *last* T of the places, and each sees what came before it and "
        "itself.",
        "`cache = append_to_cache(cache, key, value)`; scores of the queries against all keys, over the root of "
        "their width; a causal mask with T rows and as many columns as there are keys; softmax; the weights times "
        "all values. Return output, weights and the cache.",
    ),
)


@attend_with_cache.oracle
def attend_with_cache_oracle(query, key, value, cache=None):
    if cache is not None:
        key, value = torch.cat((cache[0], key), -2), torch.cat((cache[1], value), -2)
    scores = torch.einsum("bhtk,bhsk->bhts", query, key) / query.shape[-1] ** 0.5
    T, S = scores.shape[-2:]
    later = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T + 1)
    scores = scores.masked_fill(later, -torch.inf)
    parts = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    weights = parts / parts.sum(-1, keepdim=True)
    return torch.einsum("bhts,bhsv->bhtv", weights, value), weights, (key, value)


attend_with_cache.example("one new token, and one that is kept", call(*on_paper()), check_types=True)
attend_with_cache.example("nothing is kept yet", call(*on_paper()[:3]))
attend_with_cache.example(
    "two new tokens at once, nothing kept",
    call(*(torch.cat((t, -t), -2) for t in on_paper()[:3])),
)


@attend_with_cache.criterion("nothing is kept yet: causal attention", points=0.5)
def _(draw):
    yield call(*fresh(draw))
    yield call(*fresh(draw, T=1))
    yield call(*fresh(draw, T=7, K=2, V=3), None)
    yield call(*fresh(draw, B=1, H=1, T=5, scale=2.0), cache=None)
    yield call(*far_below(fresh(draw)))


@attend_with_cache.criterion("one new token after those that are kept", points=1)
def _(draw):
    yield call(*fresh(draw, T=1), kept(draw))
    yield call(*fresh(draw, T=1, scale=2.0), kept(draw, S=1))
    yield call(*fresh(draw, T=1, K=2, V=3), cache=kept(draw, S=draw.integer(4, 9), K=2, V=3))


@attend_with_cache.criterion("several new tokens at once", points=1)
def _(draw):
    yield call(*fresh(draw), kept(draw))
    yield call(*fresh(draw, T=2), kept(draw))
    yield call(*fresh(draw, T=6), kept(draw, S=2))
    yield call(*fresh(draw, T=3, scale=2.0), kept(draw, S=3))
    yield call(*far_below((*fresh(draw), kept(draw))))
    # Longer than a usual table of masks
    yield call(*fresh(draw, B=1, H=1, T=2, K=2, V=1), kept(draw, B=1, H=1, S=1100, K=2, V=1))
    yield in_pieces(draw)


@attend_with_cache.criterion("gradients", points=0.5)
def _(draw):
    yield call(*fresh(draw), kept(draw)).with_gradients()
    yield call(*fresh(draw, T=1)).with_gradients()


@attend_with_cache.criterion("scores of any size", points=0.5)
def _(draw):
    query, key, value = fresh(draw)
    key[..., -1, :] = 3 * query[..., 0, :]  # the first token would choose the last, if it saw it
    yield call(query * 1e7, key * 1e7, value, kept(draw, scale=1e7))
    # Scores of about -1e13: blocked ones that are set to -1e9 would win
    yield call(query.abs() * 1e6 + 1e6, -key.abs() * 1e6 - 1e6, value)


@attend_with_cache.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(*fresh(draw, dtype=torch.float64), kept(draw, dtype=torch.float64))
    yield call(*fresh(draw), kept(draw))
    yield call(*map(non_contiguous, fresh(draw)), tuple(map(non_contiguous, kept(draw)))).does_not_mutate()
    yield call(*map(as_split, fresh(draw)), tuple(map(as_split, kept(draw)))).does_not_mutate()
    yield call(*fresh(draw), kept(draw)).device_only()
    yield call(*fresh(draw)).device_only()
