"""`CrossAttention`: queries from one sequence, keys and values from a padded other."""

import math
from itertools import product

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, non_contiguous, ref

from ...shared.attending import APART, W_K, W_O, W_Q, W_V, attend
from .cases import padded, weights

cross_attention = exercise(
    "CrossAttention",
    result_names=("output", "weights"),
    see="2. Ask another sentence",
    hints=(
        "In self-attention three projections read one sequence. Who asks here, and who answers? So which of the three "
        "read `x`, and which read `source`?",
        "Project, cut each projection into heads, score with the width of one head, block the padded positions of the "
        "source, softmax over them, average the values, join the heads, mix with W_o. The mask has a row for each "
        "sentence of the batch, and none for heads or queries: which dimensions does it lack to fit (B, H, T, S)?",
        "`query = heads(self.W_q(x))`, `key` and `value` from `source`; `blocked = source_mask[:, None, None, :]`; "
        "`scores.masked_fill(blocked, -inf)`, softmax, and set blocked weights to 0 for sources that are all padding; "
        "`return self.W_o(…), weights`.",
    ),
)


@cross_attention.oracle
class CrossAttentionOracle(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, source, source_mask=None):
        q, k, v = (
            torch.einsum("bsd,hkd->bhsk", of, layer.weight.unflatten(0, (self.n_heads, -1)))
            for of, layer in ((x, self.W_q), (source, self.W_k), (source, self.W_v))
        )
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(q.shape[-1])
        if source_mask is not None:
            scores = torch.where(source_mask[:, None, None], -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        mixed = self.W_o.weight.unflatten(1, (self.n_heads, -1))
        return torch.einsum("bhts,bhsk,dhk->btd", weights, v, mixed), weights


EYE = {f"W_{name}.weight": torch.eye(2) for name in "qkvo"}
TURN = {"W_q.weight": W_Q, "W_k.weight": W_K, "W_v.weight": W_V, "W_o.weight": W_O}
WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1]], [[2.0, 1, 0, -1], [1, -1, 1, 0]]])
OTHERS = torch.tensor([[[0.0, 1, 1, 2], [1, 1, 0, -1], [2, 0, -1, 1]], [[1.0, 0, 0, 1], [0, -1, 2, 0], [1, 2, 1, 1]]])


@cross_attention.example("one word asks two, two heads of width 1, all matrices the identity")
def _():
    source = torch.tensor([[[0.0, 4.0], [math.log(3.0), 8.0]]])
    case = attend(EYE, 2, exactly=True, x=torch.tensor([[[1.0, 0.0]]]), source=source)
    yield case.label("CrossAttention(2, 2); x = [[1, 0]], source = [[0, 4], [log 3, 8]]")


@cross_attention.example("two words ask three, with gradients", check_types=True)
def _():
    case = attend(TURN, 2, training=True, x=WORDS, source=OTHERS).with_gradients()
    yield case.label("CrossAttention(4, 2); x (2, 2, 4), source (2, 3, 4)")


@cross_attention.example("a padded position, and a source that is nothing but padding")
def _():
    mask = torch.tensor([[False, True, False], [True, True, True]])
    case = attend(TURN, 2, x=WORDS, source=OTHERS, source_mask=mask, calls=2).with_gradients().does_not_mutate()
    yield case.label("CrossAttention(4, 2); x (2, 2, 4), source (2, 3, 4), source_mask (2, 3)")


@cross_attention.criterion("its parameters: four weights (D, D), nothing else", points=0.5)
def _(draw):
    s = Script()
    m = s.call(EXERCISE, 6, 2, name="module")
    # raises for a wrong name or shape, or an extra one; the module's result does not matter here
    s.call(helper("load_weights"), m, weights(draw, 6), name="prepared")
    yield s.case(ref("prepared")).check_with("any_result")


def twice(draw, **masked):
    """A script that calls a module with one source, then with another: "out"."""
    s = Script(
        other=draw.normal(2, 5, 6), before=draw.normal(2, 4, 6), x=draw.normal(2, 5, 6), source=draw.normal(2, 4, 6),
        **masked,
    )  # fmt: skip
    m = s.call(EXERCISE, d_model=6, n_heads=3, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6), exactly=False)
    s.call(m, s.other, s.before, *(ref(name) for name in masked))
    s.call(m, s.x, s.source, None, name="out")
    return s


@cross_attention.criterion("x asks and source answers", points=1)
def _(draw):
    yield attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), source=draw.normal(2, 7, 12))
    yield attend(weights(draw, 8), 4, x=draw.normal(3, 7, 8), source=draw.normal(3, 2, 8))
    yield attend(weights(draw, 6), 1, x=draw.normal(2, 4, 6), source=draw.normal(2, 5, 6))
    yield attend(weights(draw, 5), 5, training=True, x=draw.normal(1, 3, 5), source=draw.normal(1, 4, 5))
    yield attend(weights(draw, 12), 4, x=draw.normal(2, 1, 12), source=draw.normal(2, 6, 12))
    yield attend(weights(draw, 10), 2, x=draw.normal(3, 6, 10), source=draw.normal(3, 1, 10))
    s = twice(draw)  # nothing of the first call's source may remain
    yield s.case(ref("out")).label("CrossAttention(6, 3); x (2, 5, 6), source (2, 4, 6), after another source")


@cross_attention.criterion("masks: padded positions get no weight", points=0.5)
def _(draw):
    for B, T, S, heads in ((2, 5, 7, 3), (3, 4, 2, 2), (4, 4, 4, 4)):
        given = {"x": draw.normal(B, T, 12), "source": draw.normal(B, S, 12), "source_mask": padded(draw, B, S)}
        yield attend(weights(draw, 12), heads, **given)
    none = torch.zeros(2, 6, dtype=torch.bool)
    yield attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), source=draw.normal(2, 6, 8), source_mask=none)
    s = twice(draw, mask=padded(draw, 2, 4))  # nor of its mask
    yield s.case(ref("out")).label("CrossAttention(6, 3); x (2, 5, 6), source (2, 4, 6), after a call with a mask")
    s = Script(x=draw.normal(3, 1, 8), source=draw.normal(3, 6, 8), mask=padded(draw, 3, 6))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, s.source, s.mask, name="out")  # all by position
    yield s.case(ref("out"))
    for training, heads, T in product((False, True), (1, 3), (5, 1)):
        given = {"x": draw.normal(2, T, 12), "source": draw.normal(2, 7, 12), "source_mask": padded(draw, 2, 7)}
        case = attend(weights(draw, 12), heads, training=training, **given)
        mode = "training" if training else "eval"
        yield case.label(
            f"CrossAttention(12, {heads}) in {mode} mode; x (2, {T}, 12), source (2, 7, 12), a mask (2, 7)"
        )


@cross_attention.criterion("a fully padded source: zeros, never NaN", points=0.5)
def _(draw):
    for empty in (1, 0):
        mask = padded(draw, 2, 7)
        mask[empty] = True
        given = {"x": draw.normal(2, 5, 12), "source": draw.normal(2, 7, 12), "source_mask": mask}
        case = attend(weights(draw, 12), 3, **given).with_gradients()
        yield case.check_with("zero_for_fully_masked_rows", mask=mask[:, None, None], shape=(2, 3, 5, 7))


@cross_attention.criterion("gradients", points=0.5)
def _(draw):
    yield attend(
        weights(draw, 12), 3, training=True, x=draw.normal(2, 5, 12), source=draw.normal(2, 7, 12)
    ).with_gradients()
    mask = padded(draw, 3, 6)
    mask[1] = True  # a fully blocked source must not spoil the others
    given = {"x": draw.normal(3, 5, 8), "source": draw.normal(3, 6, 8), "source_mask": mask}
    yield attend(weights(draw, 8), 2, **given).with_gradients()


@cross_attention.criterion("scores of any size", points=0.5)
def _(draw):
    # All scores of a case are about -1e13, or all about 1e13, and far apart
    source = 1e6 * APART.view(1, 5, 1) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    x = 1e6 * draw.uniform(1, 4, 1, low=1.0, high=2.0) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    largest, smallest = int(APART.argmax()), int(APART.argmin())

    def case(n_heads, sign, blocked=None):
        state = {f"W_{name}.weight": torch.eye(6) * (sign if name == "k" else 1) for name in "qkvo"}
        given = {"x": x, "source": source}
        if blocked is not None:
            given["source_mask"] = torch.arange(5)[None] == blocked
        return attend(state, n_heads, **given)

    yield case(3, -1).label("CrossAttention(6, 3); scores of about -1e13")
    # If blocked scores are set to -1e9, they become the greatest
    yield case(2, -1, largest).label("CrossAttention(6, 2); scores of about -1e13; source_mask (1, 5)")
    yield case(2, -1, smallest).label("CrossAttention(6, 2); scores of about -1e13; another source_mask (1, 5)")
    # The greatest score is blocked, so a softmax over all keys leaves nothing for the others
    yield case(2, 1, largest).label("CrossAttention(6, 2); scores of about 1e13; source_mask (1, 5)")


@cross_attention.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield attend(
        {n: w.double() for n, w in weights(draw, 12).items()},
        3,
        x=draw.normal(2, 5, 12, dtype=torch.float64),
        source=draw.normal(2, 7, 12, dtype=torch.float64),
        source_mask=padded(draw, 2, 7),
    )
    yield attend(
        weights(draw, 12),
        4,
        x=non_contiguous(draw.normal(2, 5, 12)),
        source=draw.normal(7, 2, 12).transpose(0, 1),
        source_mask=non_contiguous(padded(draw, 2, 7)),
    ).does_not_mutate()
    given = {"x": draw.normal(2, 5, 6), "source": draw.normal(2, 7, 6)}
    yield attend(weights(draw, 6), 2, **given, source_mask=padded(draw, 2, 7)).device_only()
    yield attend(weights(draw, 6), 3, **given).device_only()
