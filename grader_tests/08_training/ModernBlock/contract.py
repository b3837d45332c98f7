"""`ModernBlock`: a block of today's models, with RMSNorm, RoPE, SwiGLU and no biases."""

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, ref

from .cases import block, block_weights, last, rounded, small_block, whole

MODERN = "5. A block of today"

STREAM = torch.tensor([[[1.0, 3.0], [2.0, -1.0], [0.0, 0.5]]])
GAINS = ("gain_1", "gain_2")

modern_block = exercise(
    "ModernBlock",
    see=MODERN,
    hints=(
        "Follow x through the two lines of the equation. Which of your steps does each word in it stand for, and "
        "where do the heads begin and end?",
        "`__init__`: super, two gains of ones (`nn.Parameter`), seven layers without bias. `forward`: normalise; "
        "queries, keys and values of the normalised x, each split into heads, (B, H, T, K); rotate queries and keys,"
        " unless `rotates` is False; causal attention; merge the heads, W_o, add x. Then normalise the sum with the "
        "other gain, and add what the gated layer makes of it.",
        "`normed = rms_norm(x, self.gain_1)`; `q, k, v = (W(…).unflatten(-1, (…, …)).transpose(…, …) for W in (…, …,"
        " …))`; `if self.rotates: q, k = …`; `scores = q @ k.mT / …`, future positions blocked before the softmax; "
        "`x = x + self.W_o((weights @ v).transpose(…, …).flatten(…))`; `return x + swiglu(rms_norm(x, …), "
        "self.W_gate.weight, …, …)`.",
    ),
)


@modern_block.oracle
class ModernBlockOracle(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1, self.gain_2 = (nn.Parameter(torch.ones(d_model)) for _ in range(2))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x):
        T, D = x.shape[1:]
        size = D // self.n_heads
        a = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain_1
        q, k, v = (
            torch.einsum("btd,hkd->bhtk", a, W.weight.view(self.n_heads, size, D))
            for W in (self.W_q, self.W_k, self.W_v)
        )
        pairs = [torch.complex(t[..., 0::2], t[..., 1::2]) for t in (q, k)]
        if self.rotates:
            exponents = torch.arange(0, size, 2, dtype=torch.float64, device=x.device) / -size
            angles = torch.arange(T, dtype=torch.float64, device=x.device)[:, None] * 10000.0**exponents
            pairs = [t * torch.complex(angles.cos().to(x.dtype), angles.sin().to(x.dtype)) for t in pairs]
        scores = torch.einsum("bhti,bhsi->bhts", pairs[0], pairs[1].conj()).real / size**0.5
        future = torch.arange(T, device=x.device)[:, None] < torch.arange(T, device=x.device)
        weights = torch.where(future, -torch.inf, scores).softmax(-1)
        x = x + torch.einsum("bhts,bhsk,dhk->btd", weights, v, self.W_o.weight.unflatten(1, (self.n_heads, size)))
        a = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * self.gain_2
        gate = self.W_gate(a)
        return x + self.W_down(gate * torch.sigmoid(gate) * self.W_up(a))


@modern_block.example("its parameters: their names and shapes")
def _():
    s = Script()
    m = s.call(EXERCISE, 2, 1, 3, name="module")
    s.call(helper("load_weights"), m, small_block(), exactly=True)
    s.call(helper("inspect"), m, name="found")
    s.call(method(ref("found", "parameters"), "__len__"), name="count")
    yield s.case(ref("count")).label("the parameters of ModernBlock(2, 1, 3)")


@modern_block.example("its gains, when it is new")
def _():
    s = Script()
    m = s.call(EXERCISE, 4, 2, 3, name="module")
    for name in GAINS:
        s.call(helper("attribute"), m, name, name=name)
    yield s.case(*map(ref, GAINS)).label("gain_1 and gain_2 of a new ModernBlock(4, 2, 3)")


@modern_block.example("one position: it attends to itself")
def _():
    yield whole(small_block(), 1, STREAM[:, :1]).label("ModernBlock(2, 1, 3); x (1, 1, 2)")


@modern_block.example("three positions, without rotation")
def _():
    yield whole(small_block(), 1, STREAM, rotates=False).label("ModernBlock(2, 1, 3, rotates=False); x (1, 3, 2)")


modern_block.example(
    "three positions, with gradients",
    whole(small_block(), 1, STREAM, training=True).with_gradients().label("ModernBlock(2, 1, 3); x (1, 3, 2)"),
    check_types=True,
)


@modern_block.example("two heads of four entries, two sentences")
def _():
    state = {k: v.repeat(*[4] * v.ndim) / (v.ndim * 2 - 1) for k, v in small_block().items()}
    x = torch.arange(48.0).view(2, 3, 8) % 5 - 1
    yield whole(state, 2, x).does_not_mutate().label("ModernBlock(8, 2, 12); x (2, 3, 8)")


@modern_block.criterion("its parameters: names, shapes, gains of ones", points=0.5)
def _(draw):
    for D, n_heads, hidden in ((8, 2, 5), (12, 3, 20)):
        s = Script()
        m = s.call(EXERCISE, D, n_heads, hidden, name="module")
        s.call(helper("load_weights"), m, block_weights(draw, D, hidden), exactly=True)
        s.call(helper("attribute"), m, "training", name="mode")
        yield s.case(ref("mode")).label(f"the parameters of ModernBlock({D}, {n_heads}, {hidden})")
    s = Script()
    m = s.call(EXERCISE, 6, 1, 9, False, name="module")
    for name in GAINS:
        s.call(helper("attribute"), m, name, name=name)
    yield s.case(*map(ref, GAINS)).label("gain_1 and gain_2 of a new ModernBlock(6, 1, 9)")
    # Two blocks share nothing: the weights of the second leave the first as it was
    first, second = block_weights(draw, 8, 5), block_weights(draw, 8, 5)
    s = Script()
    m = block(s, first, 2)
    other = s.call(EXERCISE, 8, 2, 5, name="other")
    s.call(helper("load_weights"), other, second, exactly=False)
    for name in first:
        part, _, entry = name.partition(".")
        found = s.call(helper("attribute"), m, part, name=f"the layer {part}" if entry else name)
        if entry:
            s.call(helper("attribute"), found, entry, name=name)
    yield s.case(*map(ref, first)).label("the parameters of a block after another one got its own")


# Only the last position: it may attend to all, so that a missing mask costs its own criterion alone
@modern_block.criterion("x plus attention, plus mlp, each of what is normalised", points=1)
def _(draw):
    yield last(block_weights(draw, 12, 7), 3, draw.normal(2, 5, 12), rotates=False)
    yield last(block_weights(draw, 8, 20), 4, draw.normal(3, 7, 8, scale=3.0), rotates=False)
    yield last(block_weights(draw, 12, 9), 1, draw.normal(5, 2, 12), rotates=False, training=True)
    yield last(block_weights(draw, 8, 3), 2, draw.normal(2, 1, 8) + 1.0, rotates=False)
    # 1e-6 under the root counts for entries of about 0.001
    yield last(block_weights(draw, 8, 6), 2, draw.normal(2, 4, 8, scale=1e-3), rotates=False)
    silent = block_weights(draw, 10, 4) | {"W_o.weight": torch.zeros(10, 10)}
    small = last(silent, 1, draw.normal(3, 2, 10, scale=1e-3), rotates=False)
    yield small.label("x (3, 2, 10), all about 0.001; W_o is all 0")


@modern_block.criterion("queries and keys are rotated, if `rotates`", points=0.5)
def _(draw):
    yield last(block_weights(draw, 12, 7), 3, draw.normal(2, 6, 12))
    yield last(block_weights(draw, 16, 5), 2, draw.normal(3, 9, 16), training=True)
    yield last(block_weights(draw, 8, 6), 1, draw.normal(2, 40, 8), rotates=True)
    s = Script(before=draw.normal(2, 3, 12), x=draw.normal(2, 7, 12))
    m = block(s, block_weights(draw, 12, 5), 3)
    s.call(EXERCISE, 12, 3, 5, False)  # another block that does not rotate
    s.call(m, s.before)
    out = s.call(m, s.x, name="whole")
    s.call(method(out, "narrow"), 1, 6, 1, name="last")
    yield rounded(s.case(ref("last"))).label("x (2, 7, 12), after a call with three positions")


@modern_block.criterion("causal: no position sees a later one", points=0.5)
def _(draw):
    yield whole(block_weights(draw, 12, 7), 3, draw.normal(2, 5, 12), rotates=False)
    yield whole(block_weights(draw, 8, 5), 1, draw.normal(3, 6, 8), training=True)
    yield whole(block_weights(draw, 8, 6), 2, draw.normal(2, 6, 8), before=draw.normal(2, 3, 8))
    yield whole(block_weights(draw, 8, 6), 2, draw.normal(3, 4, 8), before=draw.normal(1, 7, 8), rotates=False)
    # Scores of about 1e11: where blocked ones are replaced by a number such as -1e9, they may be the greatest
    far = block_weights(draw, 6, 4) | {"W_q.weight": torch.eye(6), "W_k.weight": -1e11 * torch.eye(6)}
    x = draw.uniform(1, 4, 6, low=1.0, high=2.0)
    yield whole(far, 3, x, rotates=False).label("ModernBlock(6, 3, 4, rotates=False); scores of about -1e11")


@modern_block.criterion("gradients, float64, any layout and device, x left alone", points=0.5, check_types=True)
def _(draw):
    yield whole(block_weights(draw, 12, 5), 3, draw.normal(2, 5, 12), training=True).with_gradients()
    state = block_weights(draw, 8, 6, torch.float64)
    yield whole(state, 2, draw.normal(3, 4, 8, dtype=torch.float64)).with_gradients()  # in eval mode
    x = draw.normal(2, 5, 12, dtype=torch.float64)
    yield whole(block_weights(draw, 12, 7, torch.float64), 3, x, rotates=False)  # no angles, so all digits count
    yield whole(block_weights(draw, 8, 5), 2, draw.normal(5, 2, 8).transpose(0, 1)).does_not_mutate()
    yield whole(block_weights(draw, 8, 3), 1, draw.normal(2, 4, 8)).device_only()
    yield whole(block_weights(draw, 12, 3), 3, draw.normal(2, 5, 12), rotates=False).device_only()
