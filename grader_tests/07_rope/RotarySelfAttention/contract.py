"""`RotarySelfAttention`: self-attention whose queries and keys are turned by their positions."""

import math
from itertools import product

import torch
from torch import nn

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, non_contiguous, ref

from ...shared import BUILT_IN
from ...shared.attending import APART, attend, open_somewhere
from ...shared.families import cases
from ..common import turned
from .cases import far_apart, plain_weights, weights

MODULE = "7. Self-attention that sees the order"

WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1], [1, 1, 0, -1]], [[2.0, 1, 0, -1], [1, -1, 1, 0], [0, 0, 1, 1]]])

rotary = exercise(
    "RotarySelfAttention",
    result_names=("output", "weights"),
    see=MODULE,
    forbidden=BUILT_IN,
    hints=(
        "Which of query, key and value decide which word looks where, and which one is passed on? When does apply_rope "
        "see vectors as wide as one head?",
        "Everything is as in lesson 6 but for two things. Make the positions if there are none, on the device of `x`. "
        "Split queries, keys and values into heads, (B, H, T, Dk), and rotate the first two by the same positions, "
        "before they make scores. Take care of a fully blocked row: what is its softmax, if every score is −∞?",
        "`if positions is None: positions = torch.arange(…)`; query, key and value are each "
        "`self.W_…(x).unflatten(-1, (…, …)).transpose(…, …)`; `query, key = apply_rope(query, …), apply_rope(key, …)`; "
        "`scores = … / …`; `weights = …`; `return self.W_o(…), weights`.",
    ),
)


@rotary.oracle
class RotaryOracle(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        size = x.shape[2] // self.n_heads
        matrices = (layer.weight.view(self.n_heads, size, x.shape[2]) for layer in (self.W_q, self.W_k, self.W_v))
        q, k, v = (torch.einsum("btd,hkd->bhtk", x, matrix) for matrix in matrices)
        exponents = torch.arange(0, size, 2, dtype=torch.float64, device=x.device) / -size
        angles = positions.double()[:, None] * 10000.0**exponents
        turn = torch.complex(angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        q, k = (torch.complex(t[..., 0::2], t[..., 1::2]) * turn for t in (q, k))
        scores = torch.einsum("bhti,bhsi->bhts", q, k.conj()).real / math.sqrt(size)
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        weights = grown / torch.where(total == 0, 1.0, total)
        mixed = self.W_o.weight.unflatten(1, (self.n_heads, size))
        return torch.einsum("bhts,bhsk,dhk->btd", weights, v, mixed), weights


@rotary.example("one head of width 2, all matrices the identity, the same word twice")
def _():
    eye = {f"W_{letter}.weight": torch.eye(2) for letter in "qkvo"}
    case = attend(eye, 1, exactly=True, x=torch.tensor([[[2.0, 0.0], [2.0, 0.0]]]))
    yield case.label("RotarySelfAttention(2, 1) on x = [[2, 0], [2, 0]]")


rotary.example(
    "two sentences of three words, two heads, with gradients",
    attend(plain_weights(), 2, x=WORDS).with_gradients().label("RotarySelfAttention(4, 2); x (2, 3, 4)"),
    check_types=True,
)


@rotary.example("at positions 7, 2 and 2.5")
def _():
    case = attend(plain_weights(), 1, x=WORDS, positions=torch.tensor([7.0, 2.0, 2.5]))
    yield turned(case, 7).label("RotarySelfAttention(4, 1); x (2, 3, 4), positions [7, 2, 2.5]")


@rotary.example("two heads of four numbers, at the positions 10, 0 and 4")
def _():
    q, k, v = torch.arange(192.0).sin().view(3, 8, 8)
    o = torch.arange(64.0).cos().view(8, 8)
    state = {f"W_{letter}.weight": weight for letter, weight in zip("qkvo", (q, k, v, o), strict=True)}
    case = attend(state, 2, x=torch.arange(24.0).sin().view(1, 3, 8), positions=torch.tensor([10, 0, 4]))
    yield turned(case, 50).label("RotarySelfAttention(8, 2); x (1, 3, 8), positions [10, 0, 4]")


@rotary.example("a causal mask (T, T)")
def _():
    case = attend(plain_weights(), 2, x=WORDS, mask=torch.ones(3, 3).triu(1).bool())
    yield case.label("RotarySelfAttention(4, 2); x (2, 3, 4), mask (3, 3), no word sees what comes after it")


@rotary.example("a padding mask (B, 1, 1, T), in which all of the second sentence is blocked")
def _():
    mask = torch.tensor([[False, False, True], [True, True, True]]).view(2, 1, 1, 3)
    case = attend(plain_weights(), 2, x=WORDS, mask=mask).with_gradients()
    yield case.label("RotarySelfAttention(4, 2); x (2, 3, 4), mask (2, 1, 1, 3)")


@rotary.criterion("its parameters: W_q, W_k, W_v and W_o, nothing else", points=0.75, tries="parameters")
def _(draw):
    for width, n_heads in ((8, 2), (12, 3)):
        s = Script()
        m = s.call(EXERCISE, width, n_heads, name="module")
        # raises for a wrong name or shape; the module's result does not matter here
        s.call(helper("load_weights"), m, weights(draw, width), name="prepared")
        yield s.case(ref("prepared")).check_with("any_result")


@rotary.criterion("self-attention over 0 … T-1", points=2)
def _(draw):
    yield turned(attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12)), 5)
    yield turned(attend(weights(draw, 20), 2, x=draw.normal(3, 7, 20)), 7)
    yield turned(attend(weights(draw, 6), 3, training=True, x=draw.normal(2, 9, 6)), 9)
    yield turned(attend(weights(draw, 8), 1, x=draw.normal(1, 4, 8)), 4)
    yield turned(attend(weights(draw, 8), 2, x=draw.normal(3, 1, 8)), 1)
    s = Script(x=draw.normal(2, 5, 8), positions=far_apart(draw, 5), mask=open_somewhere(draw, 5, 5))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, s.positions, s.mask)
    s.call(m, s.x, name="out")  # no positions and no mask of the first call may remain
    yield turned(s.case(ref("out")).label("x (2, 5, 8), after a call with positions and a mask").tries("moment"), 5)
    s = Script(before=draw.normal(2, 3, 8), x=draw.normal(2, 6, 8))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.before)
    s.call(m, s.x, name="out")
    yield turned(s.case(ref("out")).label("x (2, 6, 8), after a call with three tokens").tries("moment"), 6)


# A score is a sum over Dk entries of products of two rotated numbers. Two angles are off by 1e-6 * far at most, so a
# score of a few units, and with it the logarithm of a weight, is off by a few times that.
@rotary.criterion("the positions that are given", points=1.25, tries="positions")
def _(draw):
    yield turned(attend(weights(draw, 12), 3, x=draw.normal(2, 6, 12), positions=far_apart(draw, 6)), 200)
    fractions = draw.uniform(5, low=0.0, high=20.0)
    yield turned(attend(weights(draw, 16), 2, x=draw.normal(3, 5, 16), positions=fractions), 100)
    far = draw.integers(3000, 9000, 4)
    case = attend(weights(draw, 12), 2, x=draw.normal(2, 4, 12), positions=far)
    yield case.tolerance(5e-2, 3e-2)
    yield turned(attend(weights(draw, 8), 2, x=draw.normal(2, 4, 8), positions=torch.tensor([5, 0, 5, 9])), 50)

    s = Script(before=draw.normal(2, 6, 8), x=draw.normal(3, 6, 8), positions=far_apart(draw, 6))
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.before)
    s.call(m, s.x, s.positions, name="out")  # by position; nothing of the first call may remain
    yield turned(s.case(ref("out")).tries("positions", "moment"), 200)

    # Only the second pair of each head is left, whose angle is 90 at most: in float32 it is off by less than 1e-4, but
    # with a base of 10001 by up to 4e-3
    slow = weights(draw, 8)
    for name in ("W_q.weight", "W_k.weight"):
        slow[name][[0, 1, 4, 5]] = 0.0
    yield attend(slow, 2, x=draw.normal(2, 5, 8), positions=draw.integers(3000, 9000, 5)).tolerance(5e-4, 5e-4)


@rotary.criterion("masks of every shape that broadcasts", points=0.75, tries="masks positions")
def _(draw):
    for shape in ((5, 5), (2, 1, 1, 5), (2, 1, 5, 5), (2, 3, 5, 5), (3, 1, 5), (5,)):
        mask = open_somewhere(draw, *shape)
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), positions=far_apart(draw, 5), mask=mask)
        yield turned(case, 200)
    s = Script(x=draw.normal(3, 6, 8), positions=far_apart(draw, 6), mask=torch.ones(6, 6).triu(1).bool())
    m = s.call(EXERCISE, 8, 2, name="module")
    s.call(helper("load_weights"), m, weights(draw, 8), exactly=False)
    s.call(m, s.x, s.positions, s.mask, name="out")  # all by position
    yield turned(s.case(ref("out")), 200)
    for setting, n_heads in product(cases.settings(masked=[True], context=[False]), (1, 3)):
        given = cases.attention_inputs(draw, setting)
        case = attend(weights(draw, 12), n_heads, training=setting.training, **given)
        yield turned(case.label(f"RotarySelfAttention(12, {n_heads}): {setting.label}"), 5)


@rotary.criterion("a fully blocked row: zeros, never NaN", points=0.5, tries="empty")
def _(draw):
    some = draw.chance(0.4, 5, 5)
    some[2] = True
    padded = draw.chance(0.4, 2, 1, 1, 5)
    padded[1] = True
    one_head = torch.tensor([False, True, False]).view(3, 1, 1)
    for mask in (some, padded, one_head, torch.ones(2, 1, 5, 5, dtype=torch.bool)):
        case = attend(weights(draw, 12), 3, x=draw.normal(2, 5, 12), mask=mask)
        yield case.with_gradients().check_with("zero_for_fully_masked_rows", mask=mask, shape=(2, 3, 5, 5))


@rotary.criterion("scores of any size", points=0.5, tries="large")
def _(draw):
    # All scores of a case are about -1e13, or all about 1e13, and far apart. All tokens have
    # position 0, so that nothing is rotated and no rounding of an angle can change an order.
    x = 1e6 * APART.view(1, 5, 1) * draw.uniform(1, 1, 6, low=1.0, high=2.0)
    smallest, largest = int(APART.argmin()), int(APART.argmax())

    def case(n_heads, sign, **masks):
        state = {f"W_{letter}.weight": torch.eye(6) * (sign if letter == "k" else 1) for letter in "qkvo"}
        return attend(state, n_heads, x=x, positions=torch.zeros(5, dtype=torch.int64), **masks)

    yield case(3, -1).label("RotarySelfAttention(6, 3); scores of about -1e13, all positions 0")
    # If blocked scores are set to -1e9, they become the greatest
    mask = draw.chance(0.5, 5, 5)
    mask[:, largest], mask[:, smallest] = True, False
    yield case(1, -1, mask=mask).label("RotarySelfAttention(6, 1); scores of about -1e13; mask (5, 5)")
    # The greatest score is blocked, so a softmax over all keys leaves nothing for the others
    yield case(1, 1, mask=mask).label("RotarySelfAttention(6, 1); scores of about 1e13; mask (5, 5)")


@rotary.criterion("gradients", points=0.5)
def _(draw):
    case = attend(weights(draw, 12), 3, training=True, x=draw.normal(2, 5, 12), positions=far_apart(draw, 5))
    yield turned(case.with_gradients().tries("rotary", "positions"), 200)
    mask = open_somewhere(draw, 2, 1, 5, 5)
    mask[0, 0, 3] = True  # a fully blocked row must not spoil the others
    case = attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), positions=far_apart(draw, 5), mask=mask)
    yield turned(case.with_gradients().tries("masks", "empty", "positions"), 200)


@rotary.criterion(
    "float64, any layout and device, arguments left alone", points=0.5, tries="rotary masks positions", check_types=True
)
def _(draw):
    yield turned(
        attend(
            {n: w.double() for n, w in weights(draw, 12).items()},
            3,
            x=draw.normal(2, 5, 12, dtype=torch.float64),
            positions=far_apart(draw, 5),
            mask=open_somewhere(draw, 5, 5),
        ).does_not_mutate(),
        200,
    )
    yield turned(
        attend(
            weights(draw, 8),
            2,
            x=draw.normal(5, 2, 8).transpose(0, 1),
            positions=non_contiguous(far_apart(draw, 5)),
            mask=non_contiguous(open_somewhere(draw, 5, 5)),
        ).does_not_mutate(),
        200,
    )
    yield turned(
        attend(weights(draw, 8), 2, x=draw.normal(2, 6, 8), positions=draw.uniform(6, high=9.0)).does_not_mutate(), 9
    )
    for given in ({"positions": far_apart(draw, 5)}, {"mask": open_somewhere(draw, 5, 5)}):
        yield attend(weights(draw, 8), 2, x=draw.normal(2, 5, 8), **given).device_only()


@rotary.sizes(points=0.25, B=(1, 2, 20), T=(1, 5, 50), n_heads=(1, 3, 8), width=(2, 4, 16))
def _(draw, B, T, n_heads, width):
    return turned(attend(weights(draw, n_heads * width), n_heads, x=draw.normal(B, T, n_heads * width)), T)
