"""`partial_attention`: attention to a part of the keys, ready to merge with others."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.elsewhere import filled_elsewhere
from ...shared.repeating import after
from ..common import (
    FAR,
    NOT_ALLOWED,
    WIDE,
    blocked_in_part,
    drawn,
    far_out,
    on_paper,
    some_open,
    sum_far_out,
)

partial_attention = exercise(
    "partial_attention",
    result_names=("output", "lse"),
    forbidden=NOT_ALLOWED,
    see="Exercise: `partial_attention(query, key, value, mask=None)`",
    hints=(
        "A weight is exp(score) divided by the sum of all exp(scores) of its row. How do you write that division "
        "inside the exponential, if you have the logarithm of the sum?",
        "The weights are `exp(scores - lse)`, lse being the log-sum-exp of the row. A blocked score of −∞ gets "
        "weight 0 by itself. Only a row that is blocked throughout needs care: its lse is −∞, and −∞ − (−∞) is NaN.",
        "The shape of the code: scores, scaled by the root of the keys' width; blocked ones filled with −∞; `lse = "
        "logsumexp_of(scores)`; subtract lse from the scores, with a 0 where lse is −∞; `exp`; times the values. "
        "Return the output and lse itself.",
    ),
)


@partial_attention.oracle
def partial_attention_oracle(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / query.shape[-1] ** 0.5
    mask = torch.zeros((), dtype=torch.bool, device=scores.device) if mask is None else mask
    scores = scores.masked_fill(mask, -math.inf)
    highest = scores.amax(-1, keepdim=True)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0).detach()
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    weights = torch.exp(scores - highest) / total
    lse = (highest + total.log()).masked_fill(empty, -math.inf).squeeze(-1)
    return torch.einsum("...ts,...sv->...tv", weights, value), lse


partial_attention.example("the one on paper", call(*on_paper()), check_types=True)
partial_attention.example("the second key blocked", call(*on_paper(), torch.tensor([[False, True]])))
partial_attention.example("both keys blocked", call(*on_paper(), mask=torch.tensor([[True, True]])))


@partial_attention.criterion("without a mask", points=0.25)
def _(draw):
    yield call(*drawn(draw))
    yield call(*drawn(draw, T=1, S=5, K=7, V=4), mask=None)
    yield call(*drawn(draw, T=5, S=5, K=2, V=2), None)
    yield call(*drawn(draw, T=3, S=1, K=6, V=2)).label("a single key")
    yield after(drawn(draw), drawn(draw))


@partial_attention.criterion("with a mask", points=0.25)
def _(draw):
    yield call(*drawn(draw, scale=2.0), some_open(draw, 4, 6))
    yield call(*drawn(draw, T=5, S=5, K=3, V=2), torch.ones(5, 5, dtype=torch.bool).triu(1))
    yield call(*drawn(draw, T=2, S=7, K=3, V=9), some_open(draw, 2, 7))
    yield call(*drawn(draw, T=3, S=2, K=6, V=1), some_open(draw, 3, 2))
    yield call(*drawn(draw, T=1, S=5, K=3, V=2), some_open(draw, 1, 5)).label("a single query, and a mask (1, 5)")


@partial_attention.criterion("batches, and masks that broadcast", points=0.5)
def _(draw):
    query, key, value = drawn(draw, 2, 3)
    yield call(query, key, value)
    yield call(query, key, value, some_open(draw, 2, 3, 4, 6))
    yield call(query, key, value, some_open(draw, 4, 6))
    yield call(query, key, value, some_open(draw, 2, 1, 1, 6))
    yield call(query, key, value, some_open(draw, 6))
    yield call(*drawn(draw, 5), some_open(draw, 5, 1, 6))
    yield call(*drawn(draw, 1, 3, T=1), some_open(draw, 6)).label("a batch of one sentence, three heads, one query")


@partial_attention.criterion("scores up to ±10,000", points=0.5)
def _(draw):
    yield call(*far_out(draw)).tolerance(*FAR)
    yield call(*far_out(draw), some_open(draw, 4, 6)).tolerance(*FAR)
    yield call(*far_out(draw, level=2000.0)).tolerance(*FAR)
    for mask in ([], [some_open(draw, 4, 6)]):
        query, key, value = far_out(draw)
        yield sum_far_out(query, key, value, *mask, level=10000.0 * query[:, 0])
    # Only rows with low scores; then rows of which some are far above the others, none below 0
    for levels in ([-1.0, -1.0, -1.0, -1.0], [1.0, 0.5, 1.0, 0.25]):
        query, key, value = far_out(draw)
        query[:, 0] = torch.tensor(levels)
        yield call(query, key, value).tolerance(*FAR)
    # The open keys of the first query are far below the blocked ones
    query, key, value = far_out(draw, T=2)
    key[:3, 0] = -20000.0
    yield (
        call(query, key, value, torch.tensor([False, True, False, True, True, True]))
        .tolerance(*FAR)
        .label("blocked keys that would win by 20,000")
    )


@partial_attention.criterion("rows that see nothing: 0 and minus infinity", points=0.5)
def _(draw):
    yield call(*drawn(draw), blocked_in_part(draw, 4, 6))
    yield call(*drawn(draw, 2, 3), torch.tensor([6, 0])[:, None, None, None] <= torch.arange(6))
    yield call(*drawn(draw, 2), torch.ones(4, 6, dtype=torch.bool))
    one_key = torch.tensor([[False], [True], [False], [True]])
    yield call(*drawn(draw, S=1), one_key).label("a single key, which two of four queries do not see")


@partial_attention.criterion("gradients of output and lse, never NaN", points=0.5)
def _(draw):
    yield call(*drawn(draw), some_open(draw, 4, 6)).with_gradients()
    yield call(*drawn(draw, 2, T=1, S=5, K=7, V=4), mask=None).with_gradients()
    yield call(*drawn(draw, 2, 3), blocked_in_part(draw, 4, 6, rows=(0, 2))).with_gradients()
    # A missing gradient (of a constant) is as good as one of 0: only NaN is wrong
    yield call(*drawn(draw), torch.ones(4, 6, dtype=torch.bool)).with_gradients().check_with("finite_gradients")


@partial_attention.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(*drawn(draw, T=5, S=5, K=2, V=2, dtype=torch.float64))
    yield call(*drawn(draw, T=2, S=7, K=3, V=9, dtype=torch.float64), some_open(draw, 2, 7)).tolerance(*WIDE)
    yield call(*map(non_contiguous, drawn(draw)), mask=non_contiguous(some_open(draw, 4, 6)))
    yield call(*drawn(draw, 2), some_open(draw, 4, 6)).does_not_mutate()
    yield call(*drawn(draw), some_open(draw, 4, 6)).device_only()
    yield call(*drawn(draw)).device_only()
    yield filled_elsewhere("partial_attention", *drawn(draw, 2), some_open(draw, 4, 6))
