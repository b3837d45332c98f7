"""`merge_all`, an exercise without points: merge any number of partial results in a single step."""

import math

import torch

from grading.exercises.exercise import call, non_contiguous, step

from ...shared import INF
from ..common import FAR, NOT_ALLOWED, attended, drawn

merge_all = step(
    "merge_all",
    forbidden=NOT_ALLOWED,
    see="Exercise: `merge_all(outputs, lses)` (extra)",
    hints=(
        "The parts' log-sum-exps are P numbers for each query, and each part gets a share. Which function makes "
        "shares that sum to 1 of P numbers, each in proportion to its exponential?",
        "The log-sum-exp of all keys is that of the P numbers, along the first dimension; a share is exp(lse − that "
        "of all). Where all are −∞, subtract a 0 instead.",
        "`lse = logsumexp_of(lses.movedim(0, -1))`; `shares = exp(lses − <lse, 0 where it is −∞>)`, with a last "
        "dimension more to line up with the outputs; multiply and sum over the parts.",
    ),
)


@merge_all.oracle
def merge_all_oracle(outputs, lses):
    highest = lses.amax(0)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0).detach()
    total = torch.exp(lses - highest).sum(0).masked_fill(empty, 1.0)
    shares = torch.exp(lses - highest) / total
    return torch.einsum("p...t,p...tv->...tv", shares, outputs), (highest + total.log()).masked_fill(empty, -math.inf)


def parts(draw, sizes, *leading, T=3, V=2, **options):
    """Results of attention to P parts of the keys: (P, ..., T, V), (P, ..., T)."""
    query, key, value = drawn(draw, *leading, T=T, S=sum(sizes), V=V, **options)
    pieces = zip(key.split(sizes, dim=-2), value.split(sizes, dim=-2), strict=True)
    outputs, lses = zip(*(attended(query, *piece) for piece in pieces), strict=True)
    return torch.stack(outputs), torch.stack(lses)


def unseen(outputs, lses, blind):
    """The same, where some parts saw nothing: `blind` has pairs of a part and a query."""
    outputs, lses = outputs.clone(), lses.clone()
    for part, query in blind:
        outputs[part, ..., query, :], lses[part, ..., query] = 0.0, -INF
    return outputs, lses


PAPER = torch.tensor([[[4.0, 0.0]], [[8.0, 4.0]], [[0.0, 2.0]]]), torch.tensor([[1.0], [2.0], [5.0]]).log()
merge_all.example("the one on paper", call(*PAPER))
merge_all.example("a part that saw nothing", call(*unseen(*PAPER, [(2, 0)])))
merge_all.example("no part saw anything", call(torch.zeros(2, 1, 2), torch.full((2, 1), -INF)))
merge_all.example("a single part", call(PAPER[0][:1], PAPER[1][:1]))
merge_all.example("float64 stays float64", call(*(tensor.double() for tensor in PAPER)), check_types=True)


@merge_all.criterion("many parts of the keys", points=1)
def _(draw):
    yield call(*parts(draw, [3, 4, 2, 5]))
    yield call(*parts(draw, [1, 6, 3], T=3, V=3))
    yield call(*parts(draw, [2, 2, 2, 2, 2], 2, T=4)).with_gradients()
    yield call(*parts(draw, [4, 3], 2, 3, T=1))
    yield call(*parts(draw, [5]))


@merge_all.criterion("sums that lie far apart, or far out", points=0.25)
def _(draw):
    for levels in ([10000.0, 9998.5, 9999.0], [-10000.0, -9999.0, -10001.0], [-90.0, 60.0, 61.0], [95.0, -95.0, 94.0]):
        lses = torch.tensor(levels)[draw.permutation(3)][:, None] + torch.tensor([0.0, -400.0])
        yield call(draw.normal(3, 2, 4), lses).tolerance(*FAR)


@merge_all.criterion("parts that saw nothing", points=0.5)
def _(draw):
    some = unseen(*parts(draw, [3, 4, 2], T=4), [(0, 1), (2, 1), (1, 3)])
    yield call(*some).label("parts in which some queries saw nothing")
    nothing = unseen(*parts(draw, [3, 4], T=3), [(0, 2), (1, 2), (0, 0)])
    yield call(*nothing).label("a query that saw nothing in any part")
    yield call(*nothing).with_gradients().check_with("finite_gradients")


@merge_all.criterion("float64, any layout and device, arguments left alone", points=0.25, check_types=True)
def _(draw):
    yield call(*parts(draw, [3, 2, 4])).does_not_mutate()
    yield call(*parts(draw, [3, 2, 4], dtype=torch.float64)).does_not_mutate()
    yield call(*map(non_contiguous, parts(draw, [3, 4], 2)))
    yield call(*parts(draw, [3, 4])).device_only()
