"""`masked_attention`: scaled attention that is blocked where a mask is True."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ..common import some_open
from .cases import drawn, on_paper

masked_attention = exercise(
    "masked_attention",
    result_names=("output", "weights"),
    forbidden=BUILT_IN,
    see="Exercise: `masked_attention(query, key, value, mask=None)`",
    hints=(
        "You have written each part before: scores, scale, weights, output. Which one changes if there is a mask? And "
        "what does the softmax give for a row in which everything is −∞?",
        "Only the weights change: with a mask, `masked_softmax` replaces the softmax. Where a whole row is "
        "blocked, it gives NaN. Set the weights of all blocked keys to 0 once more, and its output is 0, too.",
        "Multiply the queries by the transposed keys (swap the last two dimensions), and divide by the root of the "
        "keys' width. If `mask is None`, the weights are a plain softmax, else the masked one, with `masked_fill` "
        "before *and* after it. Return the weights times the values, and the weights.",
    ),
)


@masked_attention.oracle
def masked_attention_oracle(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    if mask is None:
        mask = torch.zeros((), dtype=torch.bool, device=scores.device)
    mask = mask.expand(scores.shape)
    highest = scores.masked_fill(mask, -float("inf")).amax(-1, keepdim=True)
    highest = torch.where(torch.isinf(highest), torch.zeros_like(highest), highest)
    parts = torch.exp(torch.where(mask, -float("inf"), scores) - highest.detach())
    total = parts.sum(-1, keepdim=True)
    weights = parts / torch.where(total == 0, torch.ones_like(total), total)
    return torch.einsum("...ts,...sv->...tv", weights, value), weights


masked_attention.example("nothing blocked", call(*on_paper()), check_types=True)
masked_attention.example("the second key blocked", call(*on_paper(), torch.tensor([[False, True]])))
masked_attention.example("both keys blocked", call(*on_paper(), mask=torch.tensor([[True, True]])))


@masked_attention.criterion("without a mask", points=0.75, tries="nothing")
def _(draw):
    yield call(*drawn(draw))
    yield call(*drawn(draw, T=1, S=5, K=7, V=4), mask=None)
    yield call(*drawn(draw, T=5, S=5, K=2, V=2), None)


@masked_attention.criterion("with a mask", points=1.75)
def _(draw):
    yield call(*drawn(draw, scale=2.0), some_open(draw, 4, 6))
    yield call(*drawn(draw, T=5, S=5, K=3, V=2), torch.ones(5, 5, dtype=torch.bool).triu(1))
    only_keys = torch.tensor([False, True, False, True, False, False])
    yield call(*drawn(draw, T=6, S=6, K=3, V=2), only_keys).tries("broadcasts")
    yield call(*drawn(draw, T=2, S=7, K=3, V=9), some_open(draw, 2, 7))
    yield call(*drawn(draw, T=3, S=2, K=6, V=1), some_open(draw, 3, 2))
    yield call(*drawn(draw, T=4, S=3, K=1, V=2), some_open(draw, 4, 3))
    # Scores of about 1e15; those of the first query are all far below zero
    query, key, value = drawn(draw, T=6, S=7, K=4)
    query[0] = -1.0
    query, key, mask = query * 3e7, key.abs() * 3e7, some_open(draw, 6, 7)
    # The higher of each query's two highest scores is blocked, so a softmax over all keys leaves nothing for the rest
    mask.scatter_(1, (query @ key.mT).topk(2).indices, torch.tensor([[True, False]]).expand(6, 2))
    yield call(query, key, value, mask).tries("large")
    # A blocked score is 2000 above the others: softmax leaves those nothing, and subtracting 1e4 is enough
    query, key, value = drawn(draw, T=3, S=5, K=4)
    query[:, 0], key[:, 0], key[2, 0] = 2.0, 0.0, 2000.0
    yield call(query, key, value, torch.tensor([False, True, True, False, True])).tries("large", "broadcasts")
    # Vectors of 1e15, the largest that the conventions allow: all scores are below -1e30, a tenth of that apart
    key = ((8.0 + draw.permutation(7)) / 14.0)[:, None].expand(7, 4) * 1e15
    yield call(torch.full((3, 4), -1e15), key, draw.normal(7, 3), some_open(draw, 3, 7)).tries("large")


@masked_attention.criterion("batches, and masks that broadcast", points=1.5, tries="batches broadcasts")
def _(draw):
    query, key, value = drawn(draw, 2, 3)
    yield call(query, key, value, some_open(draw, 2, 3, 4, 6)).tries("batches")
    yield call(query, key, value, some_open(draw, 4, 6))
    yield call(query, key, value, some_open(draw, 2, 1, 1, 6))
    yield call(query, key, value, some_open(draw, 1, 1, 4, 6))
    yield call(query, key, value, some_open(draw, 6))
    yield call(*drawn(draw, 5), some_open(draw, 5, 1, 6))
    yield call(*drawn(draw, 2, 3), None).tries("nothing", "batches")
    yield call(*drawn(draw, 1, 2, 3), some_open(draw, 3, 1, 6))  # three leading dimensions, a batch of one


@masked_attention.criterion("fully blocked rows are 0", points=1.5, tries="empty")
def _(draw):
    mask = some_open(draw, 4, 6)
    mask[1] = True
    yield call(*drawn(draw), mask)
    yield call(*drawn(draw, 2, 3), torch.tensor([6, 0])[:, None, None, None] <= torch.arange(6))
    yield call(*drawn(draw, 2), torch.ones(4, 6, dtype=torch.bool))


@masked_attention.criterion("gradients, never NaN", points=1.25)
def _(draw):
    mask = some_open(draw, 4, 6)
    yield call(*drawn(draw), mask).with_gradients()
    yield call(*drawn(draw, 2, T=1, S=5, K=7, V=4), mask=None).with_gradients().tries("nothing")
    yield call(*drawn(draw, 2, dtype=torch.float64), mask).with_gradients()
    blocked = mask.clone()
    blocked[2] = True
    yield call(*drawn(draw, 2, 3), blocked).with_gradients().tries("empty")


@masked_attention.criterion("float64, any layout and device, arguments left alone", points=1, check_types=True)
def _(draw):
    yield call(*drawn(draw, T=5, S=5, K=2, V=2, dtype=torch.float64)).tries("nothing")
    query, key, value = drawn(draw, T=2, S=7, K=3, V=9, dtype=torch.float64)
    query[:, 0] = 2.0
    key[:, 0] += 50.0  # scores near 60 have six digits after the point in float32: computing in it shows
    yield call(query, key, value, some_open(draw, 2, 7))
    yield call(*map(non_contiguous, drawn(draw)), mask=non_contiguous(some_open(draw, 4, 6)))
    # In the memory order of split heads: no two leading dimensions can be merged
    split = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in drawn(draw, 2, 3))
    yield call(*split, some_open(draw, 4, 6))
    yield call(*drawn(draw, 2), some_open(draw, 4, 6)).does_not_mutate()
    # A fully blocked row may tempt an answer to open it in the mask itself; other criteria check the result
    blocked = torch.ones(4, 6, dtype=torch.bool)
    yield call(*drawn(draw), blocked).does_not_mutate().check_with("arguments_unchanged").tries("empty")
    yield call(*drawn(draw), some_open(draw, 4, 6)).device_only()
    yield call(*drawn(draw)).device_only().tries("nothing")
    yield call(*drawn(draw, 2)).does_not_mutate().tries("nothing")


@masked_attention.sizes(points=0.25, T=(1, 4, 300), S=(1, 6, 300), K=(1, 5, 300), V=(1, 3, 300))
def _(draw, T, S, K, V):
    return call(*drawn(draw, T=T, S=S, K=K, V=V), some_open(draw, T, S) if S > 1 else None)
