"""`SelfAttention`: three layers make queries, keys and values from x; then unscaled attention."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, non_contiguous, ref

from .cases import attend, weights, widths

SelfAttention = exercise(
    "SelfAttention",
    result_names=("output", "weights"),
    see="Exercise: `SelfAttention(d_model, d_k, d_v)`",
    hints=(
        "Which parts of the module are made once, and which are computed for each `x`? The first belong into "
        "`__init__`, the others into `forward`.",
        "In `__init__`, call the parent's `__init__` first, then store three layers without bias under their names. "
        "Queries and keys have the width `d_k`, values `d_v`. In `forward`, each layer is called with `x`, and "
        "`attention` does the rest.",
        "`super().__init__()`, then `self.W_q = nn.Linear(…, bias=False)` and likewise `W_k` and `W_v`. `forward` "
        "returns what `attention` returns for what the three layers make of `x`.",
    ),
)


@SelfAttention.oracle
class SelfAttentionOracle(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        for name, width in (("W_q", d_k), ("W_k", d_k), ("W_v", d_v)):
            setattr(self, name, nn.Linear(d_model, width, bias=False))

    def forward(self, x):
        q, k, v = (torch.einsum("...td,kd->...tk", x, layer.weight) for layer in (self.W_q, self.W_k, self.W_v))
        weights = torch.softmax(torch.einsum("...tk,...sk->...ts", q, k), -1)
        return torch.einsum("...ts,...sv->...tv", weights, v), weights


ONE = {"W_q.weight": torch.tensor([[0.0]]), "W_k.weight": torch.tensor([[0.0]]), "W_v.weight": torch.tensor([[3.0]])}
# Small whole numbers: no two widths are equal
PAPER = {
    "W_q.weight": torch.tensor([[1.0, 0, 0], [0, 1, -1]]),
    "W_k.weight": torch.tensor([[0.0, 1, 0], [1, 0, 1]]),
    "W_v.weight": torch.tensor([[1.0, 0, 2], [0, 1, 0], [0, 0, 1], [1, 1, 0]]),
}
WORDS = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]])


@SelfAttention.example("the worked example")
def _():
    yield attend(ONE, torch.tensor([[1.0], [3.0]]), exactly=True).label(
        "SelfAttention(1, 1, 1) with W_q = W_k = 0 and W_v = 3; x = [[1], [3]]"
    )


SelfAttention.example("two words, and the gradients", attend(PAPER, WORDS, training=True).with_gradients())
SelfAttention.example(
    "two sentences, called twice", attend(PAPER, torch.stack([WORDS, WORDS.flip(0)]), before=torch.ones(2, 2, 3))
)
SelfAttention.example(
    "float32 in, float32 out; float64 in, float64 out",
    attend(PAPER, WORDS),
    attend({name: weight.double() for name, weight in PAPER.items()}, WORDS.double()).does_not_mutate(),
    check_types=True,
)


@SelfAttention.example("its parameters")
def _():
    s = Script()
    m = s.call(EXERCISE, 3, 2, 4, name="module")
    s.call(helper("load_weights"), m, PAPER, name="prepared")  # raises for a wrong name or shape, or one too many
    yield s.case(ref("prepared")).check_with("any_result").label("SelfAttention(3, 2, 4), given three weights")


@SelfAttention.criterion("output and weights of a sentence", points=2.5)
def _(draw):
    yield attend(weights(draw, 6, 4, 3), draw.normal(5, 6))
    yield attend(weights(draw, 3, 5, 7), draw.normal(4, 3), training=True)
    yield attend(weights(draw, 4, 4, 4), draw.normal(6, 4))
    yield attend(weights(draw, 5, 16, 2), draw.normal(9, 5))
    s = Script(x=draw.normal(5, 6))
    m = s.call(EXERCISE, d_model=6, d_k=3, d_v=2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 6, 3, 2), exactly=False)
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).label("SelfAttention(d_model=6, d_k=3, d_v=2); x (5, 6)")


@SelfAttention.criterion("its parameters: three weights, nothing else", points=1, tries="parameters")
def _(draw):
    for D, Dk, Dv in ((6, 4, 3), (5, 5, 2)):
        s = Script()
        m = s.call(EXERCISE, D, Dk, Dv, name="module")
        # raises for a wrong name or shape, or an extra one; the module's result does not matter here
        s.call(helper("load_weights"), m, weights(draw, D, Dk, Dv), name="prepared")
        yield s.case(ref("prepared")).check_with("any_result").label(f"SelfAttention({D}, {Dk}, {Dv}), given weights")


@SelfAttention.criterion("batches, and any leading dimensions", points=1, tries="leading")
def _(draw):
    yield attend(weights(draw, 6, 4, 3), draw.normal(2, 5, 6))
    yield attend(weights(draw, 4, 3, 5), draw.normal(7, 2, 4))
    yield attend(weights(draw, 5, 4, 2), draw.normal(2, 3, 6, 5))
    yield attend(weights(draw, 3, 3, 3), draw.normal(3, 3, 3))


@SelfAttention.criterion("one word, and widths of 1", points=0.5, tries="single")
def _(draw):
    yield attend(weights(draw, 6, 4, 3), draw.normal(1, 6))
    yield attend(weights(draw, 1, 4, 3), draw.normal(5, 1))
    yield attend(weights(draw, 4, 1, 3), draw.normal(5, 4))
    yield attend(weights(draw, 4, 3, 1), draw.normal(5, 4))


@SelfAttention.criterion("each call by itself", points=0.5, tries="moment")
def _(draw):
    state = weights(draw, 6, 4, 3)
    yield attend(state, draw.normal(5, 6), before=draw.normal(5, 6))
    # The same x and another training step in between
    s = Script(x=draw.normal(4, 6))
    m = s.call(EXERCISE, *widths(state), name="module")
    s.call(helper("load_weights"), m, state, exactly=False)
    s.call(m, s.x)
    s.call(helper("load_weights"), m, weights(draw, 6, 4, 3), exactly=False)
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).label("two calls with one x, between which the weights of the module have changed")
    # Two modules keep two sets of weights
    s = Script(x=draw.normal(4, 6))
    m = s.call(EXERCISE, *widths(state), name="module")
    other = s.call(EXERCISE, *widths(state), name="other")
    s.call(helper("load_weights"), m, state, exactly=False)
    s.call(helper("load_weights"), other, weights(draw, 6, 4, 3), exactly=False)
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).label("the first of two modules")


@SelfAttention.criterion("gradients reach x and the three matrices", points=1.5)
def _(draw):
    yield attend(weights(draw, 6, 4, 3), draw.normal(5, 6), training=True).with_gradients()
    yield attend(weights(draw, 3, 5, 4), draw.normal(4, 3)).with_gradients()


@SelfAttention.criterion("float64 stays float64, any layout and device", points=0.5, check_types=True)
def _(draw):
    yield attend(weights(draw, 6, 4, 3), draw.normal(5, 6))
    yield attend(weights(draw, 6, 4, 3, dtype=torch.float64), draw.normal(5, 6, dtype=torch.float64)).tolerance(
        1e-8, 1e-8
    )
    yield attend(weights(draw, 5, 3, 4), non_contiguous(draw.normal(6, 5))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    turned = draw.normal(3, 2, 5, 4).transpose(0, 1)
    yield attend(weights(draw, 4, 3, 2), turned).tries("leading").does_not_mutate()
    yield attend(weights(draw, 6, 4, 3), draw.normal(5, 6)).device_only()


@SelfAttention.sizes(points=0.5, T=(1, 5, 60), D=(1, 6, 60), Dk=(1, 4, 60), Dv=(1, 3, 60))
def _(draw, T, D, Dk, Dv):
    return attend(weights(draw, D, Dk, Dv), draw.normal(T, D))
