"""`TransformerBlock`: pre-norm attention and mlp, each added to its input."""

from itertools import product

import torch
from torch import nn
from torch.nn import functional as F

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, ref

from ...shared.families import cases
from .cases import KINDS, SIZES, block_weights, causal, future_changed, scattered, small_block, through_block

BLOCK = "4. A block, and a model"

STREAM = torch.tensor([[[1.0, 3.0], [2.0, -1.0], [0.0, 0.5]]])

transformer_block = exercise(
    "TransformerBlock",
    see=BLOCK,
    hints=(
        "Follow one arrow of the picture from x to the result. What is added to what, and what goes through a norm "
        "before it goes anywhere else?",
        "`__init__`: super, then four parts under the names of the text. `forward`: normalise, attend, add to x; "
        "normalise the sum with the other norm, put it through the mlp, add to the sum. nn.MultiheadAttention wants "
        "query, key and value, here all three the same, and returns two things.",
        "`normed = self.norm_1(…)`; `attended, _ = self.attention(…, …, …, attn_mask=…)`; `x = x + …`; return `x + "
        "self.mlp(self.norm_2(…))`.",
    ),
)


@transformer_block.oracle
class BlockOracle(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        a = self.norm_1(x)
        x = x + self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
        hidden = F.gelu(F.linear(self.norm_2(x), self.mlp[0].weight, self.mlp[0].bias))
        return x + F.linear(hidden, self.mlp[2].weight, self.mlp[2].bias)


@transformer_block.example("its parameters: their names and shapes")
def _():
    s = Script()
    m = s.call(EXERCISE, 6, 2, name="module")
    s.call(helper("load_weights"), m, {k: v.repeat(*[3] * v.ndim) for k, v in small_block().items()}, exactly=True)
    s.call(helper("inspect"), m, name="found")
    s.call(method(ref("found", "parameters"), "__len__"), name="count")
    yield s.case(ref("count")).label("the parameters of TransformerBlock(6, 2)")


transformer_block.example(
    "three words of width 2",
    through_block(small_block(), 1, x=STREAM).label("TransformerBlock(2, 1); x (1, 3, 2), no mask"),
    check_types=True,
)


@transformer_block.example("the same with a causal mask, and gradients")
def _():
    case = through_block(small_block(), 1, training=True, x=STREAM, mask=causal(3)).with_gradients()
    yield case.label("TransformerBlock(2, 1); x (1, 3, 2), mask (3, 3)")


@transformer_block.example("two heads, two sentences")
def _():
    state = {k: v.repeat(*[2] * v.ndim) / (v.ndim + 1) for k, v in small_block().items()}
    x = torch.arange(24.0).view(2, 3, 4) % 5 - 1
    case = through_block(state, 2, x=x, mask=causal(3)).does_not_mutate()
    yield case.label("TransformerBlock(4, 2); x (2, 3, 4), mask (3, 3)")


@transformer_block.example("with dropout, in eval mode")
def _():
    case = through_block(small_block(), 1, dropout=0.5, x=STREAM)
    yield case.label("TransformerBlock(2, 1, dropout=0.5).eval(); x (1, 3, 2)")


@transformer_block.example("with dropout in training mode, attention silenced")
def _():
    state = small_block() | {"attention.out_proj.weight": torch.zeros(2, 2)}
    case = through_block(state, 1, dropout=0.5, training=True, x=STREAM)
    yield case.label("TransformerBlock(2, 1, dropout=0.5) in training mode; attention's out_proj is all 0")


@transformer_block.criterion("its parts: their names, kinds and parameters", points=0.25)
def _(draw):
    for D, n_heads in ((6, 2), (10, 5)):
        s = Script()
        m = s.call(EXERCISE, D, n_heads, name="module")
        s.call(helper("load_weights"), m, block_weights(draw, D), exactly=True)
        s.call(helper("attribute"), m, "training", name="mode")
        yield s.case(ref("mode")).label(f"the names and shapes of the parameters of TransformerBlock({D}, {n_heads})")
    s = Script()
    m = s.call(EXERCISE, 12, 4, 0.2, name="module")
    for name in ("norm_1", "norm_2", "attention", "mlp"):
        s.call(helper("attribute"), m, name, name=name)
    for place, name in enumerate(("mlp[0]", "mlp[1]", "mlp[2]")):
        s.call(method(ref("mlp"), "__getitem__"), place, name=name)
    kinds = [s.call(helper("bases"), ref(name), name=f"kind of {name}") for name in KINDS]
    asked = {"heads": "num_heads", "first axis": "batch_first", "dropout": "dropout"}
    told = [s.call(helper("attribute"), ref("attention"), what, name=name) for name, what in asked.items()]
    other = s.call(EXERCISE, 12, 4, 0.2, name="other")
    told.append(s.call(helper("state_of"), other, name="before"))
    s.call(helper("fill"), m, 7.0)
    told.append(s.call(helper("state_of"), other, name="after"))
    yield (
        s.case(*kinds, *told)
        .check_with("submodule_types", kinds=KINDS, heads=4, dropout=0.2)
        .label("the parts of TransformerBlock(12, 4, dropout=0.2)")
    )


@transformer_block.criterion("x plus attention, plus mlp, each of what is normalised", points=0.75)
def _(draw):
    yield through_block(block_weights(draw, 12), 3, x=draw.normal(2, 5, 12))
    yield through_block(block_weights(draw, 8), 4, x=draw.normal(3, 7, 8, scale=3.0))
    yield through_block(block_weights(draw, 6), 1, x=draw.normal(5, 2, 6).transpose(0, 1))
    yield through_block(block_weights(draw, 10), 2, training=True, x=draw.normal(1, 1, 10))


@transformer_block.criterion("the mask: True is blocked", points=0.5)
def _(draw):
    yield through_block(block_weights(draw, 12), 3, x=draw.normal(2, 5, 12), mask=causal(5))
    yield through_block(block_weights(draw, 8), 2, training=True, x=draw.normal(3, 6, 8), mask=scattered(draw, 6))
    # Nothing of an earlier call may remain; each call has its own x, so that adding in place costs nothing here
    s = Script(before=draw.normal(2, 4, 6), x=draw.normal(2, 4, 6), mask=causal(4))
    m = s.call(EXERCISE, d_model=6, n_heads=3, dropout=0.0, name="module")
    s.call(helper("load_weights"), m, block_weights(draw, 6), exactly=False)
    s.call(m, s.before, mask=s.mask)
    s.call(m, s.x, name="out")
    yield s.case(ref("out"))
    s = Script(before=draw.normal(2, 4, 6), x=draw.normal(2, 4, 6), mask=causal(4), other=causal(4).T.contiguous())
    m = s.call(EXERCISE, 6, 2, name="module")
    s.call(helper("load_weights"), m, block_weights(draw, 6), exactly=False)
    s.call(m, s.before, s.mask)
    s.call(m, s.x, s.other, name="out")
    yield s.case(ref("out")).label("x (2, 4, 6), mask (4, 4), after a call with another mask of this shape")
    s = Script(before=draw.normal(2, 3, 6), x=draw.normal(2, 6, 6), shorter=causal(3), mask=causal(6))
    m = s.call(EXERCISE, 6, 2, name="module")
    s.call(helper("load_weights"), m, block_weights(draw, 6), exactly=False)
    s.call(m, s.before, s.shorter)
    s.call(m, s.x, s.mask, name="out")
    yield s.case(ref("out")).label("x (2, 6, 6), mask (6, 6), after a call with three words")
    settings = cases.settings(masked=[True], dropout=(0.0, 0.5), context=[False])
    for setting, n_heads in product(settings, (1, 3)):
        text = f"TransformerBlock(12, {n_heads}, dropout={setting.dropout}): {setting.label}"
        if setting.random:
            yield future_changed(draw, n_heads, setting.dropout).label(text)
        else:
            given = {"x": draw.normal(2, 5, 12), "mask": scattered(draw, 5)}
            case = through_block(
                block_weights(draw, 12), n_heads, dropout=setting.dropout, training=setting.training, **given
            )
            yield case.label(text)


@transformer_block.criterion("dropout on the attention weights, and nowhere else", points=0.25)
def _(draw):
    B, T, D, H = SIZES
    p, dtype = draw.number(0.3, 0.5), torch.float64
    state = block_weights(draw, D, dtype) | {
        "norm_1.weight": torch.ones(D, dtype=dtype),
        "norm_1.bias": torch.zeros(D, dtype=dtype),
        "attention.in_proj_weight": torch.eye(3 * D, D, dtype=dtype).roll(2 * D, 0),
        "attention.out_proj.weight": torch.eye(D, dtype=dtype),
        "mlp.2.weight": torch.zeros(D, 4 * D, dtype=dtype),
        "mlp.2.bias": torch.zeros(D, dtype=dtype),
    }
    x = draw.normal(B, T, D, dtype=dtype)
    s = Script(x=x, copy=x.clone())  # two tensors, so that adding in place costs nothing here
    m = s.call(EXERCISE, D, H, dropout=p, name="module")
    s.call(helper("load_weights"), m, state, training=True, exactly=False)
    s.call(m, s.x, name="first")
    s.call(m, s.copy, name="second")
    made = s.case(ref("first"), ref("second")).check_with("drops_attention_weights", x=x, p=p, heads=H)
    yield made.label(f"TransformerBlock(32, 2, dropout={p:.2f}) in training mode; x (8, 12, 32)")
    s = Script(x=draw.normal(2, 5, 8))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(EXERCISE, 8, 2, dropout=0.5)  # another block has its own dropout
    s.call(helper("load_weights"), m, block_weights(draw, 8), training=True, exactly=False)
    s.call(m, s.x, name="out")
    yield s.case(ref("out")).label("TransformerBlock(8, 2) in training mode, while another one has dropout")
    silent = block_weights(draw, 10) | {"attention.out_proj.weight": torch.zeros(10, 10)}
    made = through_block(silent, 2, dropout=0.5, training=True, x=draw.normal(3, 5, 10))
    yield made.label("TransformerBlock(10, 2, dropout=0.5) in training mode; attention's out_proj is all 0")
    x = draw.normal(3, 5, 10)
    s = Script(x=x, copy=x.clone())
    m = s.call(EXERCISE, 10, 2, dropout=0.5, name="module")
    s.call(helper("load_weights"), m, silent, training=True, exactly=False)
    s.call(m, s.x, name="out")
    s.call(method(m, "eval"))
    s.call(m, s.copy, name="clean")
    made = s.case(ref("out"), ref("clean")).check_with("dropout_only_in_attention", x=x, p=0.5)
    yield made.label("the same block in training mode and in eval mode; attention's out_proj is all 0")
    for tag, options in (("drops unasked", {}), ("eval mode drops, too", {"dropout": 0.5})):
        s = Script(x=draw.normal(2, 6, 8))
        s.inputs["copy"] = s.inputs["x"].clone()
        m = s.call(EXERCISE, 8, 2, **options, name="module")
        s.call(EXERCISE, 8, 2, dropout=0.5)
        s.call(method(m, "train"), not options)
        s.call(m, s.x, name="one")
        s.call(m, s.copy, name="again")
        made = s.case(ref("one"), ref("again")).check_with("deterministic", tag=tag)
        yield made.label(f"two calls of a block, {'in eval mode' if options else 'made without dropout'}")
    yield through_block(block_weights(draw, 8), 2, dropout=0.6, x=draw.normal(2, 7, 8))


@transformer_block.criterion("gradients, float64, any device, x left alone", points=0.25, check_types=True)
def _(draw):
    state = block_weights(draw, 8)
    yield through_block(state, 2, training=True, x=draw.normal(2, 5, 8), mask=causal(5)).with_gradients()
    pure = through_block(block_weights(draw, 6), 3, x=draw.normal(3, 4, 6), mask=scattered(draw, 4)).does_not_mutate()
    yield pure.check_with("arguments_unchanged")
    yield through_block(block_weights(draw, 6), 2, x=draw.normal(2, 4, 6), mask=causal(4)).device_only()
    state, x = block_weights(draw, 4, torch.float64), draw.normal(2, 6, 4, dtype=torch.float64)
    yield through_block(state, 2, x=x, mask=causal(6)).with_gradients()  # in eval mode
    s = Script(x=draw.normal(2, 3, 4, dtype=torch.float64))
    m = s.call(EXERCISE, 4, 2, name="module")
    s.call(helper("load_weights"), m, block_weights(draw, 4, torch.float64), exactly=False)
    s.call(method(m, "norm_1"), s.x, name="part")
    s.call(m, s.x, name="out")  # inspecting a part must change nothing
    yield s.case(ref("part"), ref("out")).label("norm_1 of TransformerBlock(4, 2) in float64, then the whole")
