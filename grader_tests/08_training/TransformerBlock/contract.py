"""`TransformerBlock`: a block of today's models round an attention that is given: RMSNorm, SwiGLU, no biases."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, ref

from .cases import (
    after_another,
    attention,
    block,
    block_weights,
    causal,
    long_rows,
    observed,
    scattered,
    small_block,
    through_block,
    worked_example,
)

STREAM = torch.tensor([[[1.0, 3.0], [2.0, -1.0], [0.0, 0.5]]])
GAINS = ("gain_1", "gain_2")

transformer_block = exercise(
    "TransformerBlock",
    see="Exercise: `TransformerBlock(attention, d_model, hidden)`",
    hints=(
        "Follow one arrow of the picture from x to the result. What is added to what, and what goes through a norm "
        "before it goes anywhere else?",
        "`__init__`: super, the attention as it is, two gains of ones (`nn.Parameter`), three layers without bias. "
        "`forward`: normalise x with the first gain, call the attention with it and the mask, add its output to x. "
        "Then normalise the sum with the other gain, and add what the gated layers make of it.",
        "`attended, _ = self.attention(rms_norm(x, …), mask=…)`; `x = x + …`; `a = rms_norm(…, …)`; return `x + "
        "self.W_down(F.silu(self.…(a)) * self.…(a))`.",
    ),
)


@transformer_block.oracle
class BlockOracle(nn.Module):
    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.attention = attention
        self.gain_1, self.gain_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x, mask=None):
        x = x + self.attention(x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain_1, mask=mask)[0]
        a = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain_2
        gate = self.W_gate(a)
        return x + self.W_down(gate * torch.sigmoid(gate) * self.W_up(a))


@transformer_block.example("its parameters: their names and shapes")
def _():
    s = Script(attention=attention(small_block(), 1))
    m = s.call(EXERCISE, s.attention, 2, 3, name="module")
    s.call(helper("load_weights"), m, small_block(), exactly=True)
    s.call(helper("inspect"), m, name="found")
    s.call(method(ref("found", "parameters"), "__len__"), name="count")
    yield s.case(ref("count")).label("the parameters of TransformerBlock(attention, 2, 3)")


@transformer_block.example("its gains, when it is new")
def _():
    s = Script(attention=attention(small_block(), 1))
    m = s.call(EXERCISE, s.attention, 2, 3, name="module")
    for name in GAINS:
        s.call(helper("attribute"), m, name, name=name)
    yield s.case(*map(ref, GAINS)).label("gain_1 and gain_2 of a new TransformerBlock(attention, 2, 3)")


transformer_block.example("the worked example", through_block(worked_example(), 1, x=torch.tensor([[[1.0, 7.0]]])))
transformer_block.example("three positions, without a mask", through_block(small_block(), 1, x=STREAM))
transformer_block.example(
    "the same with a causal mask, and gradients",
    through_block(small_block(), 1, training=True, x=STREAM, mask=causal(3)).with_gradients(),
    check_types=True,
)


@transformer_block.example("two heads, two sentences")
def _():
    state = {k: v.repeat(*[2] * v.ndim) / (v.ndim * 2 - 1) for k, v in small_block().items()}
    x = torch.arange(24.0).view(2, 3, 4) % 5 - 1
    yield through_block(state, 2, x=x, mask=causal(3)).does_not_mutate()


@transformer_block.criterion("its parameters: names and shapes", points=0.75, tries="parameters")
def _(draw):
    for D, n_heads, hidden in ((8, 2, 5), (12, 3, 20)):
        state = block_weights(draw, D, hidden)
        s = Script(attention=attention(state, n_heads))
        m = s.call(EXERCISE, s.attention, D, hidden, name="module")
        s.call(helper("load_weights"), m, state, exactly=True)
        s.call(helper("attribute"), m, "training", name="mode")
        yield s.case(ref("mode")).label(f"the parameters of TransformerBlock(attention, {D}, {hidden})")
    yield observed(block_weights(draw, 8, 5), 2)


@transformer_block.criterion("gains of ones", points=0.25, tries="gains")
def _(draw):
    s = Script(attention=attention(block_weights(draw, 6, 9), 1))
    m = s.call(EXERCISE, s.attention, d_model=6, hidden=9, name="module")
    for name in GAINS:
        s.call(helper("attribute"), m, name, name=name)
    yield s.case(*map(ref, GAINS)).label("gain_1 and gain_2 of a new TransformerBlock(attention, 6, 9)")


@transformer_block.criterion("x plus attention, plus mlp, each of what is normalised", points=2.5)
def _(draw):
    yield through_block(block_weights(draw, 12, 7), 3, x=draw.normal(2, 5, 12))
    yield through_block(block_weights(draw, 8, 20), 4, x=draw.normal(3, 7, 8, scale=3.0))
    yield through_block(block_weights(draw, 6, 9), 1, training=True, x=draw.normal(5, 2, 6))
    yield through_block(block_weights(draw, 10, 3), 2, x=draw.normal(2, 1, 10) + 1.0)
    # 1e-6 under the root counts for entries of about 0.001
    yield through_block(block_weights(draw, 8, 6), 2, x=draw.normal(2, 4, 8, scale=1e-3))
    silent = block_weights(draw, 10, 4) | {"attention.W_o.weight": torch.zeros(10, 10)}
    small = through_block(silent, 1, x=draw.normal(3, 2, 10, scale=1e-3))
    yield small.label("x (3, 2, 10), all about 0.001; W_o of attention is all 0")


@transformer_block.criterion("the mask goes to attention", points=1, tries="mask")
def _(draw):
    yield through_block(block_weights(draw, 12, 7), 3, x=long_rows(draw, 2, 5, 12), mask=causal(5))
    x, mask = long_rows(draw, 3, 6, 8), scattered(draw, 6)
    yield through_block(block_weights(draw, 8, 5), 2, training=True, x=x, mask=mask)
    s = Script(x=long_rows(draw, 2, 4, 6), mask=scattered(draw, 4))
    s.call(block(s, block_weights(draw, 6, 5), 3), s.x, mask=s.mask, name="out")
    yield s.case(ref("out")).label("block(x, mask=mask); x (2, 4, 6), mask (4, 4)")


@transformer_block.criterion("each call by itself", points=0.5, tries="calls")
def _(draw):
    state = block_weights(draw, 6, 5)
    yield after_another(state, 3, long_rows(draw, 2, 4, 6), long_rows(draw, 2, 4, 6), causal(4)).tries("calls", "mask")
    yield after_another(
        state, 2, long_rows(draw, 2, 4, 6), long_rows(draw, 2, 4, 6), causal(4), causal(4).T.contiguous()
    ).tries("calls", "mask")
    yield after_another(state, 2, long_rows(draw, 2, 3, 6), long_rows(draw, 2, 6, 6), causal(3), causal(6)).tries(
        "calls", "mask"
    )
    yield after_another(state, 1, long_rows(draw, 2, 7, 6), long_rows(draw, 3, 4, 6))


@transformer_block.criterion("gradients, float64, any layout and device, x left alone", points=0.75, check_types=True)
def _(draw):
    yield through_block(block_weights(draw, 12, 5), 3, training=True, x=draw.normal(2, 5, 12)).with_gradients()
    state, x = block_weights(draw, 8, 6, torch.float64), draw.normal(3, 4, 8, dtype=torch.float64)
    yield through_block(state, 2, x=x, mask=causal(4)).with_gradients().tries("mask")  # in eval mode
    x = draw.normal(2, 5, 12, dtype=torch.float64)
    yield through_block(block_weights(draw, 12, 7, torch.float64), 3, x=x)
    yield through_block(block_weights(draw, 8, 5), 2, x=draw.normal(5, 2, 8).transpose(0, 1)).does_not_mutate()
    yield through_block(block_weights(draw, 8, 3), 1, x=draw.normal(2, 4, 8)).device_only()


@transformer_block.sizes(points=0.25, B=(1, 2, 20), T=(1, 5, 40), D=(1, 6, 40), hidden=(1, 7, 40))
def _(draw, B, T, D, hidden):
    return through_block(block_weights(draw, D, hidden), 1, x=30.0 * long_rows(draw, B, T, D))
