"""Constants and helpers that several exercises of the lesson share."""

import torch

from grading.exercises.exercise import EXERCISE, Script, method, ref

from ..shared import BUILT_IN, INF

# Functions that would solve the exercises. A cross-entropy contains a softmax, too
NOT_ALLOWED = (
    ".*softmax.*",
    "softmin",
    "log(cum)?sumexp",
    "logaddexp",
    "(?!binary).*cross_entropy.*",
    *BUILT_IN,
)
# A log-sum-exp of 10,000 in float32 is off by up to 0.0005, and so is every weight computed from it. A merge adds more.
FAR = (5e-3, 5e-3)
# Below float32's precision
WIDE = (1e-10, 1e-10)
SCALE = "2. A part of the keys"
BLOCKED = "A part that sees nothing"


DEFAULT = 64  # keys per tile if no tile is given


def sized(tile):
    """Keyword arguments with `tile`, or none."""
    return {} if tile is None else {"tile": tile}


def told(tile):
    return ", with the default tile" if tile is None else f", tile={tile}"


def attended(query, key, value, mask=None):
    """Attention to all keys at once, for oracles and inputs of cases: (output, lse)."""
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    mask = torch.zeros((), dtype=torch.bool, device=scores.device) if mask is None else mask
    lse = logarithm_of_sum(scores.masked_fill(mask, -INF))
    lowest = lse.masked_fill(lse.isneginf(), 0.0)
    weights = torch.exp((scores - lowest[..., None]).masked_fill(mask, -INF))
    return torch.einsum("...ts,...sv->...tv", weights, value), lse


def logarithm_of_sum(scores):
    """Log-sum-exp over the last dimension; -inf, without a gradient, where all scores are."""
    highest = scores.amax(-1, keepdim=True)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0).detach()
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    return (highest + total.log()).masked_fill(empty, -INF).squeeze(-1)


def sum_far_out(*given, level, path=(1,), **named):
    """A call that compares only the log-sum-exp, as its distance from `level`.

    float32 represents `level` exactly. A tolerance relative to 10,000 would accept any logarithm: FAR is for outputs.
    `path` is the log-sum-exp's path in the result.
    """
    s = Script(**{f"given_{i}": value for i, value in enumerate(given)}, level=level)
    result = s.call(EXERCISE, *(getattr(s, f"given_{i}") for i in range(len(given))), **named)
    s.call(method(ref(result.fields["name"], *path), "sub"), s.level)
    return s.case().tolerance(0.0, 2e-3).label("the log-sum-exp of scores that lie far out")


def on_paper():
    """One query and two keys of width 4 (its root is 2): scaled scores log 1 and log 3."""
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[0.0, 1.0, 0.0, 0.0], [1.0986123, 0.0, 0.0, 0.0]])
    return query, key, torch.tensor([[4.0], [8.0]])


def drawn(draw, *leading, T=4, S=6, K=5, V=3, **options):
    """Queries, keys and values with these leading dimensions."""
    return tuple(draw.normal(*leading, *shape, **options) for shape in ((T, K), (S, K), (S, V)))


def some_open(draw, *shape):
    """A random mask for two or more keys; every row has an open and a blocked key."""
    mask = draw.chance(0.4, *shape)
    mask[..., -2], mask[..., -1] = False, True
    return mask


def far_out(draw, T=4, S=6, V=3, level=20000.0):
    """Scores near plus or minus half of `level`, exact in float32 (K is 4, its root 2).

    Rows alternate between high and low scores; within a row, scores are -3 … 3 apart.
    """
    query = torch.zeros(T, 4)
    query[:, 0], query[:, 1] = 1.0, 2.0
    query[1::2, 0] = -1.0
    key = torch.zeros(S, 4)
    key[:, 0], key[:, 1] = level, draw.integers(-3, 4, S).float()
    key[0, 1], key[-1, 1] = 3.0, 3.0
    return query, key, draw.normal(S, V)


def blocked_in_part(draw, T, S, rows=(1,)):
    """A random mask in which these rows are fully blocked."""
    mask = some_open(draw, T, S)
    mask[list(rows)] = True
    return mask
