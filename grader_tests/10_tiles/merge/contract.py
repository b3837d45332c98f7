"""`merge`: two results of attention to different keys, as one."""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous, ref

from ...shared import INF
from ...shared.repeating import after
from ..common import FAR, NOT_ALLOWED, WIDE, sum_far_out
from .cases import far_apart, halves, little_beside, nothing_seen

merge = exercise(
    "merge",
    result_names=("output", "lse"),
    forbidden=NOT_ALLOWED,
    see="Exercise: `merge(output, lse, other_output, other_lse)`",
    hints=(
        "The output of a part is its sum of weighted values, divided by its sum of exponentials. How do you get the "
        "undivided sum back, and by what do you have to divide the two together?",
        "Each output gets a share: exp(its lse − the lse of all). The lse of all keys is the log-sum-exp of the two "
        "numbers. Where both are −∞, subtract a 0 instead, so that both shares are 0.",
        "The shape of the code: stack the two lse along a new last dimension and take `logsumexp_of`; `share = "
        "exp(lse − <that, 0 where it is −∞>)`, likewise for the other; give both a last dimension to line up with "
        "the outputs, and add.",
    ),
)


@merge.oracle
def merge_oracle(output, lse, other_output, other_lse):
    scores = torch.stack([lse, other_lse], dim=-1)
    highest = scores.amax(-1, keepdim=True)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0).detach()
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    shares = torch.exp(scores - highest) / total
    mixed = shares[..., :1] * output + shares[..., 1:] * other_output
    return mixed, (highest + total.log()).masked_fill(empty, -math.inf).squeeze(-1)


paper = torch.tensor([[4.0, 0.0]]), torch.tensor([1.0]).log(), torch.tensor([[8.0, 4.0]]), torch.tensor([3.0]).log()
nothing = torch.tensor([[0.0, 0.0]]), torch.tensor([-INF])
merge.example("the one on paper", call(*paper), check_types=True)
merge.example("a side that saw nothing", call(*paper[:2], *nothing))
merge.example("two sides that saw nothing", call(*nothing, *nothing))


@merge.criterion("two parts of the keys", points=0.5)
def _(draw):
    yield call(*halves(draw, 3, 4))
    yield call(*halves(draw, 1, 6, T=5, V=2))
    yield call(*halves(draw, 5, 2, T=1, V=4)).label("a single query")
    yield call(*halves(draw, 3, 4, T=3, V=3)).label("as many queries as numbers in a value")
    yield after(halves(draw, 3, 4), halves(draw, 3, 4))


@merge.criterion("batches", points=0.5)
def _(draw):
    yield call(*halves(draw, 3, 4, 2))
    yield call(*halves(draw, 2, 5, 2, 3))
    yield call(*halves(draw, 4, 1, 3, 1, 2, T=2))
    yield call(*halves(draw, 4, 3, 2, V=1)).label("values of one number each")


@merge.criterion("sums that lie far apart, or far out", points=0.5)
def _(draw):
    yield call(*far_apart(draw, 10000.0, 9998.5)).tolerance(*FAR)
    yield call(*far_apart(draw, -10000.0, -9999.0)).tolerance(*FAR)
    yield call(*far_apart(draw, 10000.0, -10000.0)).tolerance(*FAR)
    yield call(*far_apart(draw, -90.0, 60.0)).tolerance(*FAR)
    yield call(*far_apart(draw, 95.0, 94.0)).tolerance(*FAR)
    # Each query has its own level, so that the maximum of all does not help
    levels = torch.tensor([400.0, -400.0, 0.0, -200.0])
    yield call(*far_apart(draw, levels, levels - 1.0))
    yield sum_far_out(*far_apart(draw, 10000.0, 9998.5), level=torch.tensor(10000.0))
    yield sum_far_out(*far_apart(draw, -10000.0, -9999.0), level=torch.tensor(-10000.0))
    for gap in (6.0, 9.0):
        yield from little_beside(draw, gap)


@merge.criterion("a side that saw nothing", points=0.5)
def _(draw):
    mine, other = halves(draw, 3, 4), halves(draw, 5, 2)
    yield call(*nothing_seen(*mine[:2], rows=(1,)), *other[:2]).label("a query that saw nothing on one side")
    yield call(*mine[:2], *nothing_seen(*other[:2], rows=(0, 2))).label("queries that saw nothing on the other")
    yield call(*nothing_seen(*mine[:2], rows=(1, 2)), *nothing_seen(*other[:2], rows=(2, 3))).label(
        "queries that saw nothing on one side or on both"
    )
    everything = range(4)
    yield call(*nothing_seen(*mine[:2], everything), *nothing_seen(*other[:2], everything)).label(
        "no query saw anything"
    )


@merge.criterion("gradients, never NaN", points=0.5)
def _(draw):
    yield call(*halves(draw, 3, 4)).with_gradients()
    yield call(*halves(draw, 3, 4, 2)).with_gradients()
    mine, other = halves(draw, 3, 4), halves(draw, 5, 2)
    yield call(*nothing_seen(*mine[:2], rows=(1,)), *nothing_seen(*other[:2], rows=(0, 3))).with_gradients()
    # If both sides are empty, an answer may pass on their 0 or make a new one: only NaN is wrong
    both = nothing_seen(*mine[:2], rows=(1, 2)), nothing_seen(*other[:2], rows=(2, 3))
    yield call(*both[0], *both[1]).with_gradients().check_with("finite_gradients")


@merge.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(*halves(draw, 3, 4)).does_not_mutate()
    yield call(*halves(draw, 3, 4, 2, dtype=torch.float64))
    yield call(*halves(draw, 2, 3, dtype=torch.float64)).does_not_mutate().tolerance(*WIDE)
    yield from little_beside(draw, 20.0, torch.float64)
    # An answer may be tempted to overwrite -inf if both sides have it. Another criterion checks the result
    mine, other = halves(draw, 3, 4), halves(draw, 5, 2)
    names = ("output", "lse", "other_output", "other_lse")
    given = (*nothing_seen(*mine[:2], rows=(1, 2)), *nothing_seen(*other[:2], rows=(2, 3)))
    s = Script(**dict(zip(names, given, strict=True)))
    s.call(EXERCISE, s.output, s.lse, s.other_output, s.other_lse)
    kept = [s.call(method(ref(name), "neg"), name=f"{name}_afterwards") for name in ("lse", "other_lse")]
    yield s.case(*kept).label("the log-sum-exps that were given, afterwards, where queries saw nothing on both sides")
    yield call(*map(non_contiguous, halves(draw, 3, 4, 2))).does_not_mutate()
    yield call(*halves(draw, 3, 4)).device_only()
