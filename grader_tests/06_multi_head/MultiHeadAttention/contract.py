"""`MultiHeadAttention`: self- and cross-attention with several heads, masks and dropout."""

import math

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, non_contiguous, ref

from ...shared import BUILT_IN
from ...shared.attending import APART, W_K, W_O, W_Q, W_V, attend, open_somewhere
from ...shared.families import cases
from .cases import BARELY, SHAPE, P, in_setting, weights

TURN = {"W_q.weight": W_Q, "W_k.weight": W_K, "W_v.weight": W_V, "W_o.weight": W_O}
WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1]], [[2.0, 1, 0, -1], [1, -1, 1, 0]]])

OTHERS = torch.tensor([[[0.0, 1, 1, 2], [1, 1, 0, -1], [2, 0, -1, 1]], [[1.0, 0, 0, 1], [0, -1, 2, 0], [1, 2, 1, 1]]])

mha = exercise(
    "MultiHeadAttention",
    result_names=("output", "weights"),
    see="Exercise: `MultiHeadAttention(d_model, n_heads, dropout=0.0)`",
    forbidden=BUILT_IN,
    hints=(
        "Follow the picture of shapes above, box by box. Which steps need the number of heads? Which ones treat all "
        "leading dimensions as a batch?",
        "Project `x` or the context, and split each of the three into heads. `masked_attention` then gives the weights "
        "of all heads, with the width of *one head* in its root. Drop some weights, average the values with what is "
        "left, merge, and mix by `W_o`.",
        "`query = split_heads(self.W_q(x), …)`, `key` and `value` likewise from `context` or `x`; `_, weights = "
        "masked_attention(…)`; `weights = self.dropout(…)`; `return self.W_o(merge_heads(…)), weights`.",
    ),
)


@mha.oracle
class MhaOracle(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        self.n_heads, self.p = n_heads, dropout
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (
            torch.einsum("bsd,hkd->bhsk", source, layer.weight.unflatten(0, (self.n_heads, -1)))
            for source, layer in ((x, self.W_q), (context, self.W_k), (context, self.W_v))
        )
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        if self.training and self.p:
            kept = torch.rand(weights.shape, device=weights.device) >= self.p
            weights = weights * kept / (1 - self.p)
        mixed = self.W_o.weight.unflatten(1, (self.n_heads, -1))
        return torch.einsum("bhts,bhsk,dhk->btd", weights, v, mixed), weights


@mha.example("two heads of width 1, all matrices the identity")
def _():
    eye = {f"W_{name}.weight": torch.eye(2) for name in "qkvo"}
    case = attend(eye, 2, exactly=True, x=torch.tensor([[[0.0, 0.0], [math.log(3.0), 8.0]]]))
    yield case.label("MultiHeadAttention(2, 2) on x = [[0, 0], [log 3, 8]]")


@mha.example("two sentences that look at others of another length, with gradients", check_types=True)
def _():
    s = Script(x=WORDS, context=OTHERS)
    m = s.call(EXERCISE, 4, 2, name="module")
    s.call(helper("load_weights"), m, TURN, training=True, exactly=False)
    s.call(m, s.x)  # nothing of an earlier call may remain
    s.call(m, s.x, s.context, name="out")
    yield s.case(ref("out")).with_gradients().label("MultiHeadAttention(4, 2); x (2, 2, 4), context (2, 3, 4)")


@mha.example("a causal mask (T, S)")
def _():
    case = attend(TURN, 2, x=WORDS, mask=torch.tensor([[False, True], [False, False]]), calls=2).does_not_mutate()
    yield case.label("MultiHeadAttention(4, 2); x (2, 2, 4), mask (2, 2), the first word sees itself only")


@mha.example("a padding mask (B, 1, 1, S), in which all of the second sentence is blocked")
def _():
    mask = torch.tensor([[False, True, False], [True, True, True]]).view(2, 1, 1, 3)
    case = attend(TURN, 4, x=WORDS, context=OTHERS, mask=mask).with_gradients()
    yield case.label("MultiHeadAttention(4, 4); x (2, 2, 4), context (2, 3, 4), mask (2, 1, 1, 3)")


mha.example(
    "with dropout, in eval mode",
    attend(TURN, 2, options={"dropout": 0.5}, x=WORDS).label(
        "MultiHeadAttention(4, 2, dropout=0.5).eval(); x (2, 2, 4)"
    ),
)


@mha.criterion("its parameters: four weights (D, D), nothing else", points=0.5, tries="parameters")
def _(draw):
    s = Script(x=draw.normal(2, 3, 6))
    m = s.call(EXERCISE, 6, 2, name="module")
    # raises for a wrong name or shape, or an extra one; the module's result does not matter here. It is called, because
    # its `__init__` is given, and where `forward` is not written, nothing may be earned
    s.call(helper("load_weights"), m, weights(draw, 6), name="prepared")
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).check_with("any_result").label("MultiHeadAttention(6, 2), given weights and called")


@mha.criterion("self-attention", points=1.5)
def _(draw):
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12))
    yield attend(weights(draw, 8), 4, x=draw.normal(3, 7, 8))
    yield attend(weights(draw, 6), 1, x=draw.normal(2, 4, 6))
    yield attend(weights(draw, 5), 5, x=draw.normal(1, 3, 5))
    yield attend(weights(draw, 1), 1, x=draw.normal(2, 3, 1))
    yield attend(weights(draw, 12), 4, training=True, x=draw.normal(2, 1, 12))
    yield attend(weights(draw, 12), 2, options={"dropout": 0.4}, x=draw.normal(2, 5, 12))
    s = Script(before=draw.normal(3, 4, 6), x=draw.normal(2, 5, 6))
    m = s.call(EXERCISE, 6, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.before)
    s.call(m, s.x, name="out")  # nothing of the first call may remain
    yield s.case(ref("out")).tries("call")
    s = Script(x=draw.normal(2, 5, 6), context=draw.normal(2, 5, 6), mask=open_somewhere(draw, 5, 5))
    m = s.call(EXERCISE, 6, 3, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.x, context=s.context, mask=s.mask)
    s.call(m, s.x, name="out")  # nor the context, nor the mask
    label = "MultiHeadAttention(6, 3); x (2, 5, 6), after a call with a context and a mask"
    yield s.case(ref("out")).tries("call").label(label)


@mha.criterion("cross-attention", points=1.75, tries="context")
def _(draw):
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12))
    yield attend(weights(draw, 10), 2, x=draw.normal(3, 6, 10), context=draw.normal(3, 1, 10))
    # As many words as x: to take something from x fails by no shape
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 5, 12))
    yield attend(weights(draw, 8), 4, training=True, x=draw.normal(3, 1, 8), context=draw.normal(3, 1, 8))
    state = weights(draw, 8)
    s = Script(x=draw.normal(3, 1, 8), context=draw.normal(3, 6, 8), mask=open_somewhere(draw, 1, 6))
    m = s.call(EXERCISE, d_model=8, n_heads=2, name="module")
    s.call(helper("load_weights"), m, state, exactly=False)
    s.call(m, s.x, s.context, s.mask, name="out")  # all by position
    yield s.case(ref("out")).tries("context", "mask")
    s = Script(x=draw.normal(2, 5, 6), before=draw.normal(2, 4, 6), context=draw.normal(2, 4, 6))
    m = s.call(EXERCISE, 6, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.x, context=s.before)
    s.call(m, s.x, context=s.context, name="out")
    label = "MultiHeadAttention(6, 2); context (2, 4, 6), after a call with another"
    yield s.case(ref("out")).tries("context", "call").label(label)
    for setting in cases.settings(masked=[False], training=[True], dropout=(0.0, BARELY), context=[True]):
        yield in_setting(draw, setting, 2)


@mha.criterion("masks of every shape that broadcasts", points=1, tries="mask")
def _(draw):
    for shape in ((5, 7), (2, 1, 1, 7), (2, 1, 5, 7), (2, 3, 5, 7), (3, 1, 7), (1, 3, 5, 7), (7,)):
        mask = open_somewhere(draw, *shape)
        yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12), mask=mask)
    yield attend(weights(draw, 12), 4, x=draw.normal(3, 6, 12), mask=torch.ones(6, 6, dtype=torch.bool).triu(1))
    yield attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), mask=torch.zeros(5, 5, dtype=torch.bool))
    s = Script(x=draw.normal(2, 5, 8), before=open_somewhere(draw, 5, 5), mask=open_somewhere(draw, 5, 5))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, mask=s.before)
    s.call(m, s.x, mask=s.mask, name="out")
    label = "MultiHeadAttention(8, 2); x (2, 5, 8), mask (5, 5), after a call with another"
    yield s.case(ref("out")).tries("mask", "call").label(label)
    for number, setting in enumerate(cases.settings(masked=[True], dropout=(0.0, BARELY))):
        yield in_setting(draw, setting, (1, 3, 3, 1)[number % 4])


@mha.criterion("a fully blocked row: zeros, never NaN", points=1, tries="empty")
def _(draw):
    some = draw.chance(0.4, 5, 7)
    some[2] = True
    padded = draw.chance(0.4, 2, 1, 1, 7)
    padded[1] = True
    one_head = torch.tensor([False, True, False]).view(3, 1, 1)
    for mask in (some, padded, one_head, torch.ones(2, 1, 5, 7, dtype=torch.bool)):
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), context=draw.normal(2, 7, 12), mask=mask)
        yield case.with_gradients().check_with("zero_for_fully_masked_rows", mask=mask, shape=(2, 3, 5, 7))


@mha.criterion("dropout falls on the weights, in training mode", points=1, tries="dropped")
def _(draw):
    state, context = weights(draw, 12), draw.normal(2, SHAPE[3], 12)
    s = Script(x=draw.normal(2, SHAPE[2], 12), context=context)
    m = s.call(EXERCISE, 12, 3, P, name="module")
    s.call(helper("load_weights"), m, state, training=True, exactly=False)
    s.call(m, s.x, context=s.context, name="first")
    s.call(m, s.x, context=s.context, name="second")
    s.call(method(m, "eval"))
    s.call(m, s.x, context=s.context, name="clean")
    values = (context @ state["W_v.weight"].T).unflatten(-1, (SHAPE[1], -1))
    given = {"p": P, "shape": SHAPE, "size": (2, SHAPE[2], 12), "values": values, "mix": state["W_o.weight"]}
    case = s.case(ref("first"), ref("second"), ref("clean")).check_with("drops_entries", **given)
    yield case.label(f"MultiHeadAttention(12, 3, {P}) in training mode; x (2, 8, 12), context (2, 48, 12)")
    s = Script(x=draw.normal(2, SHAPE[2], 12), context=context)
    m = s.call(EXERCISE, 12, 3, P, name="module")
    s.call(helper("load_weights"), m, state, training=False, exactly=False)
    s.call(m, s.x, context=s.context, name="clean")
    s.call(method(m, "train"))
    for name in ("first", "second"):
        s.call(m, s.x, context=s.context, name=name)
    case = s.case(ref("first"), ref("second"), ref("clean")).check_with("drops_entries", **given)
    yield case.label(f"MultiHeadAttention(12, 3, {P}) in training mode after a call in eval mode")
    case = attend(weights(draw, 8), 2, training=True, options={"dropout": P}, x=draw.normal(2, 9, 8))
    yield case.with_gradients().check_with("gradients_flow")
    s = Script(x=draw.normal(2, 5, 6))
    m = s.call(EXERCISE, 6, 3, name="module")
    s.call(EXERCISE, 6, 3, P)  # another module has its own dropout
    s.call(helper("load_weights"), m, weights(draw, 6), training=True, exactly=False)
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).label("MultiHeadAttention(6, 3) in training mode, while another one has dropout")
    s = Script(x=draw.normal(2, 5, 6))
    m = s.call(EXERCISE, 6, 3, name="module")
    s.call(EXERCISE, 6, 3, P)
    for name in ("one", "again"):
        s.call(m, s.x, name=name)
    case = s.case(ref("one"), ref("again")).check_with("deterministic", tag="drops unasked")
    yield case.label("two calls of MultiHeadAttention(6, 3) in training mode, while another one has dropout")


@mha.criterion("gradients", points=1)
def _(draw):
    yield attend(weights(draw, 12), 3, training=True, x=draw.normal(2, 5, 12)).with_gradients()
    mask = open_somewhere(draw, 2, 1, 5, 7)
    mask[0, 0, 3] = True  # a fully blocked row must not spoil the others
    case = attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), context=draw.normal(2, 7, 8), mask=mask)
    yield case.with_gradients().tries("empty", "mask")


@mha.criterion("scores of any size", points=0.5, tries="large")
def _(draw):
    # All scores of a case are about -1e13, or all about 1e13, and far apart
    x = 1e6 * APART.view(1, 5, 1) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    smallest, largest = int(APART.argmin()), int(APART.argmax())

    def case(n_heads, sign, mask=None):
        state = {f"W_{name}.weight": torch.eye(6) * (sign if name == "k" else 1) for name in "qkvo"}
        return attend(state, n_heads, x=x, **({} if mask is None else {"mask": mask}))

    yield case(3, -1).label("MultiHeadAttention(6, 3); scores of about -1e13")
    # If blocked scores are set to -1e9, they become the greatest
    mask = draw.chance(0.5, 5, 5)
    mask[:, largest], mask[:, smallest] = True, False
    yield case(2, -1, mask).label("MultiHeadAttention(6, 2); scores of about -1e13; mask (5, 5)")
    # The greatest score is blocked, so a softmax over all keys leaves nothing for the others
    yield case(2, 1, mask).label("MultiHeadAttention(6, 2); scores of about 1e13; mask (5, 5)")


@mha.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield attend(
        {n: w.double() for n, w in weights(draw, 12).items()},
        3,
        x=draw.normal(2, 5, 12, dtype=torch.float64),
        context=draw.normal(2, 7, 12, dtype=torch.float64),
        mask=open_somewhere(draw, 2, 1, 1, 7),
    )
    yield attend(
        weights(draw, 12),
        4,
        x=non_contiguous(draw.normal(2, 5, 12)),
        context=draw.normal(7, 2, 12).transpose(0, 1),
        mask=non_contiguous(open_somewhere(draw, 5, 7)),
    ).does_not_mutate()
    mask = open_somewhere(draw, 2, 1, 5, 7)
    yield attend(weights(draw, 6), 2, x=draw.normal(2, 5, 6), context=draw.normal(2, 7, 6), mask=mask).device_only()
    yield attend(weights(draw, 6), 3, x=draw.normal(2, 5, 6)).device_only()


@mha.sizes(points=0.25, T=(1, 5, 50), S=(1, 7, 50), H=(1, 3, 8), Dk=(1, 4, 16))
def _(draw, T, S, H, Dk):
    return attend(weights(draw, H * Dk), H, x=draw.normal(2, T, H * Dk), context=draw.normal(2, S, H * Dk))
