"""`ScaledDotProductAttention`: scaled attention as a module, with dropout on its weights."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, device, exercise, helper, method, ref

from ...shared import BUILT_IN
from ..common import ON_PAPER, three
from .cases import (
    attending,
    back_in_training,
    dropping,
    longer,
    twice,
)

ROWS = "Predict: sums in training mode"


ScaledDotProductAttention = exercise(
    "ScaledDotProductAttention",
    result_names=("output", "weights"),
    see="6. Dropout, in a module",
    forbidden=BUILT_IN,
    hints=(
        "To which of scores, weights and output does dropout apply? And how can `forward` know whether the module is "
        "in training mode?",
        "`nn.Dropout` is a module: it drops entries independently, enlarges the survivors, and does nothing in eval "
        "mode. If you make it in `__init__` and store it as an attribute, its mode changes together with your "
        "module's.",
        "The shape of the code: in `__init__`, first the parent's, then `self.dropout = ...`. In `forward`, "
        "`_, weights = ...`, from your function for scaled attention; `weights = self.dropout(...)`; `return ...`, the "
        "weighted sum and these weights.",
    ),
)


@ScaledDotProductAttention.oracle
class ScaledDotProductAttentionOracle(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.p = dropout

    def forward(self, query, key, value):
        scores = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(query.size(-1))
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        return torch.einsum("...ts,...sv->...tv", weights, value), weights


@ScaledDotProductAttention.example("without dropout")
def _():
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(EXERCISE, name="module")
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().label("ScaledDotProductAttention()(…) on the numbers of scaled_dot_product_attention, on paper")


@ScaledDotProductAttention.example("float32 in, float32 out; float64 in, float64 out", check_types=True)
def _():
    for dtype in (torch.float32, torch.float64):
        s = Script(query=ON_PAPER[0].to(dtype), key=ON_PAPER[1].to(dtype), value=ON_PAPER[2].to(dtype))
        m = s.call(EXERCISE, name="module")
        s.call(m, s.query, s.key, s.value, name="out")
        name = str(dtype).removeprefix("torch.")
        yield s.case().label(
            f"ScaledDotProductAttention()(…) on the numbers of scaled_dot_product_attention, in {name}"
        )


@ScaledDotProductAttention.example("in eval mode")
def _():
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(EXERCISE, dropout=0.5, name="module")
    s.call(method(m, "eval"))
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().label("ScaledDotProductAttention(dropout=0.5).eval()(…) on the same numbers")


@ScaledDotProductAttention.example("a batch of two, in eval mode")
def _():
    query, key, value = (
        torch.sin(step * torch.arange(2.0 * n * m)).reshape(2, n, m)
        for step, n, m in ((1.0, 3, 6), (1.3, 4, 6), (0.7, 4, 5))
    )
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, dropout=0.4, name="module")
    s.call(m, s.query, s.key, s.value)
    s.call(method(m, "eval"))
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().label("called once in training mode and again in eval mode, (2, 3, 6), (2, 4, 6), (2, 4, 5)")


@ScaledDotProductAttention.example("in training mode, nearly all dropped")
def _():
    # Random, but comparable: a weight survives once in 2 ** 22 runs
    s = Script(query=ON_PAPER[0], key=ON_PAPER[1], value=ON_PAPER[2])
    m = s.call(EXERCISE, dropout=1 - 2.0**-22, name="module")
    s.call(m, s.query, s.key, s.value, name="out")
    text = "ScaledDotProductAttention(dropout=0.9999998)(…), in training mode: every weight is dropped"
    yield s.case().label(text)


@ScaledDotProductAttention.criterion("attention, where dropout is 0", points=1.5)
def _(draw):
    s = Script()
    yield s.case(s.call(EXERCISE, dropout=0.25)).label("what is made is an nn.Module")
    yield attending(draw)
    yield attending(draw, dropout=0.0).with_gradients()
    yield attending(draw, mode=("train",), K=16)
    query, key, value = three(draw, K=3)
    s = Script(query=query, key=key, value=value, wide=draw.normal(2, 12), keys=draw.normal(4, 12))
    m = s.call(EXERCISE, name="module")
    s.call(m, s.wide, s.keys, s.keys)
    s.call(m, s.query, s.key, s.value, name="out")  # nothing may remain from the other width
    yield s.case().label("two calls of one module, with vectors of another width")
    yield longer(draw, 3, 6)
    query, key, value = three(draw)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, dropout=0.0, name="module")
    s.call(EXERCISE, dropout=draw.number(0.5, 0.8), name="other")
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().label("a module with dropout=0.0, after another was made with more")
    yield twice(draw, "drops unasked")


@ScaledDotProductAttention.criterion("eval mode drops nothing", points=1, tries="eval")
def _(draw):
    yield attending(draw, mode=("eval",), dropout=draw.number(0.3, 0.7)).with_gradients()
    yield attending(draw, draw.number(0.3, 0.7), mode=("train", False))
    yield twice(draw, "eval mode drops, too", dropout=draw.number(0.3, 0.7))
    yield back_in_training(draw)


@ScaledDotProductAttention.criterion("dropout falls entry by entry", points=2, tries="dropped")
def _(draw):
    for p in (draw.number(0.2, 0.35), draw.number(0.6, 0.75)):
        case, plain, _ = dropping(draw, p, 2, 3)
        yield case.check_with("elementwise_dropout", p=p, plain=plain)


@ScaledDotProductAttention.criterion("survivors are multiplied by 1 / (1 - dropout)", points=1.5, tries="survivors")
def _(draw):
    for p in (draw.number(0.2, 0.35), draw.number(0.6, 0.75)):
        case, plain, _ = dropping(draw, p)
        yield case.check_with("rescales_survivors", p=p, plain=plain)


@ScaledDotProductAttention.criterion("the weights returned are the ones applied", points=1.5, tries="applied")
def _(draw):
    case, plain, value = dropping(draw, draw.number(0.3, 0.5))
    yield case.check_with("output_uses_returned_weights", plain=plain, value=value)


@ScaledDotProductAttention.criterion("gradients while weights are dropped", points=1, tries="survivors applied")
def _(draw):
    p = draw.number(0.3, 0.5)
    query, key, value = three(draw, T=1, S=20, K=4, V=40)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, dropout=p, name="module")
    for leaf in (s.query, s.key, s.value):
        s.call(method(leaf, "requires_grad_"))
    s.call(m, s.query, s.key, s.value, name="out")
    s.call(helper("backward"), s.call(method(ref("out", 0), "sum")))
    found = [
        s.call(helper("attribute"), ref(name), "grad", name=f"gradient_{name}") for name in ("query", "key", "value")
    ]
    plain = (query.double() @ key.double().mT / 2).softmax(-1)
    given = {"p": p, "plain": plain, "query": query, "key": key, "value": value, "scale": 0.5}
    case = s.case(ref("out"), *found).check_with("gradients_match_kept_weights", **given)
    yield case.label(f"ScaledDotProductAttention(dropout={p:.2f}) in training mode, then output.sum().backward()")


@ScaledDotProductAttention.criterion(
    "float64 stays float64, float32 float32, on any device", points=0.5, check_types=True
)
def _(draw):
    yield attending(draw)
    yield attending(draw, K=16, dtype=torch.float64)
    yield attending(draw, K=16, dtype=torch.float64, ahead=12.0)  # float32 has few digits after the point there
    for dtype in (torch.float32, torch.float64):
        case, _, _ = dropping(draw, draw.number(0.3, 0.6), dtype=dtype)
        yield case.check_with("keeps_dtype", dtype=str(dtype))
    query, key, value = three(draw)
    s = Script(query=query, key=key, value=value)
    m = s.call(EXERCISE, name="module")
    s.call(method(m, "to"), device())
    s.call(method(m, "eval"))
    s.call(m, s.query, s.key, s.value, name="out")
    yield s.case().device_only().label("ScaledDotProductAttention() in eval mode")


@ScaledDotProductAttention.criterion("batches, and arguments left as they were", points=0.5)
def _(draw):
    yield attending(draw, sizes=(2, 3)).does_not_mutate()
    yield attending(draw, mode=("train",), sizes=(2,), K=9).does_not_mutate()
    yield attending(draw, draw.number(0.3, 0.7), mode=("eval",), sizes=(3,)).does_not_mutate().tries("eval")
    yield attending(draw, sizes=(1, 2), T=1, S=1, K=1, V=1)
    yield attending(draw, sizes=(2, 1), K=1, V=1)


@ScaledDotProductAttention.sizes(
    points=0.5, B=(1, 2, 10), T=(1, 3, 60), S=(1, 5, 60), Dk=(1, 6, 60), Dv=(1, 4, 60), dropout=(0.0, 0.3, 0.999)
)
def _(draw, B, T, S, Dk, Dv, dropout):
    case = attending(draw, dropout, mode=("eval",), sizes=(B,), T=T, S=S, K=Dk, V=Dv)
    return case.tries("eval") if dropout else case
