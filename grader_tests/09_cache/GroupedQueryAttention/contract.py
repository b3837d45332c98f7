"""`GroupedQueryAttention`: several query heads share a head of keys and values."""

import math

import torch
from torch import nn

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.attending import open_somewhere
from ...shared.families import cases
from .cases import attend, weights

gqa = exercise(
    "GroupedQueryAttention",
    result_names=("output", "weights"),
    forbidden=BUILT_IN,
    see="Exercise: `GroupedQueryAttention(d_model, n_heads, n_groups)`",
    hints=(
        "Which of the four matrices become smaller when keys and values have fewer heads? How many rows do they keep?",
        "Queries are split into H heads, keys and values into G. Before the scores, each head of keys and "
        "values must be next to all the heads of queries that read it: H / G in a row.",
        "`query` is (B, H, T, K), `key` and `value` (B, G, T, K). Repeat the latter along the heads, each H / G "
        "times in a row (`repeat_interleave`), or give the queries a dimension for the group and let it broadcast. "
        "The rest is lesson 06.",
    ),
)


@gqa.oracle
class GqaOracle(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups is {n_groups} and does not divide n_heads, {n_heads}")
        self.n_heads, self.n_groups = n_heads, n_groups
        width = d_model // n_heads
        for name, rows in (("q", d_model), ("k", n_groups * width), ("v", n_groups * width), ("o", d_model)):
            setattr(self, f"W_{name}", nn.Linear(d_model, rows, bias=False))

    def forward(self, x, mask=None):
        q = torch.einsum("btd,ghkd->bghtk", x, self.W_q.weight.unflatten(0, (self.n_groups, -1, self._width)))
        k, v = (
            torch.einsum("bsd,gkd->bgsk", x, layer.weight.unflatten(0, (self.n_groups, -1)))
            for layer in (self.W_k, self.W_v)
        )
        scores = (torch.einsum("bghtk,bgsk->bghts", q, k) / math.sqrt(self._width)).flatten(1, 2)
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        grouped = weights.unflatten(1, (self.n_groups, -1))
        heads = torch.einsum("bghts,bgsk->btghk", grouped, v).flatten(2)
        return heads @ self.W_o.weight.T, weights

    @property
    def _width(self):
        return self.W_q.out_features // self.n_heads


WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1]], [[2.0, 1, 0, -1], [1, -1, 1, 0]]])
TURN = {
    "W_q.weight": torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]]),
    "W_k.weight": torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 1]]),
    "W_v.weight": torch.tensor([[1.0, 0, 2, 0], [0, 1, 0, 0]]),
    "W_o.weight": torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]),
}


@gqa.example("four heads of width 1 in two groups", check_types=True)
def _():
    yield attend(TURN, 4, 2, exactly=True, x=WORDS).label("GroupedQueryAttention(4, 4, 2); x (2, 2, 4)")


@gqa.example("a causal mask, one group for two heads, with gradients")
def _():
    case = attend(TURN, 2, 1, x=WORDS, mask=torch.tensor([[False, True], [False, False]])).with_gradients()
    yield case.label("GroupedQueryAttention(4, 2, 1); x (2, 2, 4), mask (2, 2)")


gqa.example("three groups for four heads", call(8, 4, 3).raises("n_groups", "n_heads"))


@gqa.criterion("its parameters: four weights, those of keys and values smaller", points=0.5)
def _(draw):
    yield attend(weights(draw, 12, 6, 2), 6, 2, exactly=True, x=draw.normal(2, 5, 12))
    yield attend(weights(draw, 12, 4, 1), 4, 1, exactly=True, x=draw.normal(2, 5, 12))


@gqa.criterion("several heads read one head of keys and values", points=1.5)
def _(draw):
    yield attend(weights(draw, 24, 6, 2), 6, 2, x=draw.normal(2, 5, 24))
    yield attend(weights(draw, 24, 6, 3), 6, 3, x=draw.normal(3, 4, 24))
    yield attend(weights(draw, 24, 4, 1), 4, 1, x=draw.normal(2, 7, 24))
    yield attend(weights(draw, 12, 4, 2), 4, 2, x=draw.normal(1, 1, 12))


@gqa.criterion("as many groups as heads: ordinary heads", points=0.5)
def _(draw):
    yield attend(weights(draw, 12, 3, 3), 3, 3, x=draw.normal(2, 5, 12))
    yield attend(weights(draw, 5, 1, 1), 1, 1, x=draw.normal(2, 4, 5))
    case = attend(weights(draw, 12, 3, 3), 3, 3, x=draw.normal(2, 5, 12), earlier=[open_somewhere(draw, 5, 5)])
    yield case.label("GroupedQueryAttention(12, 3, 3); a call with a mask, and then one without")


@gqa.criterion("masks that broadcast, and rows that are blocked throughout", points=1)
def _(draw):
    for shape in ((5, 5), (2, 1, 1, 5), (2, 6, 5, 5), (6, 1, 5)):
        yield attend(weights(draw, 24, 6, 2), 6, 2, x=draw.normal(2, 5, 24), mask=open_somewhere(draw, *shape))
    some = draw.chance(0.4, 5, 5)
    some[2] = True
    case = attend(weights(draw, 12, 4, 2), 4, 2, x=draw.normal(2, 5, 12), mask=some)
    yield case.with_gradients().check_with("zero_for_fully_masked_rows", mask=some, shape=(2, 4, 5, 5))
    yield attend(
        weights(draw, 12, 4, 2), 4, 2, x=draw.normal(2, 5, 12), mask=some.expand(2, 1, 5, 5).clone()
    ).does_not_mutate()
    for setting in cases.settings(masked=[True], groups=(1, 2, 4), context=[False]):
        given = cases.attention_inputs(draw, setting)
        case = attend(weights(draw, 12, 4, setting.groups), 4, setting.groups, training=setting.training, **given)
        yield case.label(f"GroupedQueryAttention(12, 4, {setting.groups}): {setting.label}")


@gqa.criterion("gradients", points=0.5)
def _(draw):
    yield attend(weights(draw, 24, 6, 2), 6, 2, training=True, x=draw.normal(2, 5, 24)).with_gradients()


@gqa.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    state = {name: weight.double() for name, weight in weights(draw, 24, 6, 3).items()}
    mask = open_somewhere(draw, 5, 5)
    mask[:, 1], mask[:, 2] = False, True  # a key that no query sees is not a fully blocked row
    yield attend(state, 6, 3, x=draw.normal(2, 5, 24, dtype=torch.float64), mask=mask)
    yield attend(weights(draw, 12, 4, 2), 4, 2, x=draw.normal(2, 5, 12))
    yield attend(weights(draw, 12, 4, 2), 4, 2, x=non_contiguous(draw.normal(2, 5, 12)), mask=mask).does_not_mutate()
    yield attend(weights(draw, 12, 4, 2), 4, 2, x=draw.normal(2, 5, 12), mask=mask).device_only()


@gqa.criterion("ValueError unless n_heads divides d_model, and n_groups n_heads, from 1 on", points=0.5)
def _(draw):
    yield call(12, 5, 1).raises("d_model", "n_heads")
    yield call(d_model=12, n_heads=6, n_groups=4).raises("n_heads", "n_groups")
    yield call(8, 2, 4).raises("n_heads", "n_groups")
    for number in (0, -3, 2.5):  # the groups do not divide 2.5 either
        yield call(12, number, 1).raises("n_heads", "d_model", "n_groups")
    for number in (0, -2, 1.5):
        yield call(12, 4, number).raises("n_groups", "n_heads")
    yield call(12, 6, 3).does_not_raise()
