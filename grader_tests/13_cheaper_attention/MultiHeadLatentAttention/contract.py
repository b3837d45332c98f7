"""`MultiHeadLatentAttention`: keys and values from a narrow latent vector, and one rotated key for all heads."""

import math

import torch
from torch import nn

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.attending import open_somewhere
from ...shared.families import cases
from .cases import attend, turned, weights

mla = exercise(
    "MultiHeadLatentAttention",
    result_names=("output", "weights"),
    forbidden=BUILT_IN,
    see="Exercise: `MultiHeadLatentAttention(d_model, n_heads, d_latent, d_rope)`",
    hints=(
        "Which two of the vectors made from one token must a cache keep? Which of the layers have to know how many "
        "heads there are, and which does not?",
        "Make `c = self.W_c(x)`, and keys and values from it. Split queries, keys and values into heads of width K, "
        "and the rotated queries into heads of width R; the one rotated key is the same for every head. Rotate both "
        "by their positions. A head's query is its two parts put together, and so is its key.",
        "Splitting gives (B, H, T, K) and, for the rotated queries, (B, H, T, R). The rotated key, (B, T, R), gets a "
        "dimension for the heads by `unsqueeze` and is repeated along it by `expand`. `torch.cat` along the last "
        "dimension joins two parts, also if one is empty (R = 0). What is the width of a joined query, by whose root "
        "you divide? The rest is lesson 06.",
    ),
)


@mla.oracle
class LatentOracle(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and does not divide d_model, {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope is {d_rope}, and must be even and not negative")
        self.n_heads = n_heads
        sizes = {
            "q": (d_model, d_model),
            "qr": (d_model, n_heads * d_rope),
            "c": (d_model, d_latent),
            "k": (d_latent, d_model),
            "v": (d_latent, d_model),
            "kr": (d_model, d_rope),
            "o": (d_model, d_model),
        }
        for name, (wide, rows) in sizes.items():
            setattr(self, f"W_{name}", nn.Linear(wide, rows, bias=False))

    def forward(self, x, mask=None):
        H = self.n_heads
        heads = {name: getattr(self, f"W_{name}").weight.unflatten(0, (H, -1)) for name in ("q", "k", "v")}
        q = torch.einsum("btd,hkd->bhtk", x, heads["q"])
        k, v = (torch.einsum("bsd,cd,hkc->bhsk", x, self.W_c.weight, heads[name]) for name in ("k", "v"))
        K, R = q.shape[-1], self.W_kr.out_features
        scores = torch.einsum("bhtk,bhsk->bhts", q, k)
        if R:
            places = torch.arange(x.shape[1], dtype=torch.float64, device=x.device)
            exponents = torch.arange(0, R, 2, dtype=torch.float64, device=x.device) / -R
            # A product of two rotated pairs depends on the difference of their positions alone
            angles = (places[:, None, None] - places[:, None]) * 10000.0**exponents
            cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
            qr = torch.einsum("btd,hrd->bhtr", x, self.W_qr.weight.unflatten(0, (H, R))).unflatten(-1, (-1, 2))
            kr = torch.einsum("bsd,rd->bsr", x, self.W_kr.weight).unflatten(-1, (-1, 2))
            same = torch.einsum("bhtiw,bsiw,tsi->bhts", qr, kr, cos)
            a, b = qr.unbind(-1)
            c, d = kr.unbind(-1)
            turned = torch.einsum("bhti,bsi,tsi->bhts", a, d, sin) - torch.einsum("bhti,bsi,tsi->bhts", b, c, sin)
            scores = scores + same + turned
        scores = scores / math.sqrt(K + R)
        if mask is not None:
            scores = torch.where(mask, -torch.inf, scores)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        shares = grown / torch.where(total == 0, 1.0, total)
        mixed = torch.einsum("bhts,bhsk->bthk", shares, v).flatten(2)
        return mixed @ self.W_o.weight.T, shares


WORDS = torch.tensor([[[1.0, 0, 2, 1], [0, 1, -1, 1], [1, 1, 0, -1]], [[2.0, 1, 0, -1], [1, -1, 1, 0], [0, 0, 1, 1]]])
LATENT = torch.tensor([[1.0, 0, 0, 1], [0, 1, 1, 0], [1, 0, -1, 0]])
SMALL = {
    "W_q.weight": torch.tensor([[1.0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, -1]]),
    "W_qr.weight": torch.tensor([[1.0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]),
    "W_c.weight": LATENT,
    "W_k.weight": torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, -1, 1], [1, 0, 1]]),
    "W_v.weight": torch.tensor([[1.0, 0, 2], [0, 1, 0], [1, 0, 0], [0, 3, 1]]),
    "W_kr.weight": torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 2]]),
    "W_o.weight": torch.tensor([[1.0, 0, 0, 1], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]),
}


@mla.example("two heads of width 2, latents of width 3, a rotated part of width 2", check_types=True)
def _():
    case = attend(SMALL, 2, exactly=True, x=WORDS).with_gradients()
    yield turned(case.label("MultiHeadLatentAttention(4, 2, 3, 2); x (2, 3, 4)"), 3)


@mla.example("without a rotated part: latents alone")
def _():
    state = SMALL | {"W_qr.weight": torch.zeros(0, 4), "W_kr.weight": torch.zeros(0, 4)}
    yield attend(state, 2, exactly=True, x=WORDS).label("MultiHeadLatentAttention(4, 2, 3, 0); x (2, 3, 4)")


@mla.example("one head of width 4, a rotated part of width 4")
def _():
    wide = SMALL | {
        "W_kr.weight": torch.tensor([[0.0, 1, 0, 0], [1, 0, 0, 2], [0, 1, 1, 0], [1, 1, 0, 0]]),
    }
    yield turned(attend(wide, 1, x=WORDS).label("MultiHeadLatentAttention(4, 1, 3, 4); x (2, 3, 4)"), 3)


@mla.example("a causal mask, and a text that is blocked throughout")
def _():
    causal = torch.ones(3, 3).triu(1).bool()
    case = attend(SMALL, 2, x=WORDS, mask=torch.stack([causal, torch.ones_like(causal)])[:, None])
    yield turned(case.label("MultiHeadLatentAttention(4, 2, 3, 2); x (2, 3, 4), mask (2, 1, 3, 3)"), 3)


mla.example("a rotated part of odd width", call(8, 2, 3, 3).raises("d_rope"))


@mla.criterion("its parameters: seven weights, and nothing else", points=0.5)
def _(draw):
    yield attend(weights(draw, 12, 3, 5, 2), 3, exactly=True, x=draw.normal(2, 1, 12))
    yield attend(weights(draw, 8, 2, 9, 6), 2, exactly=True, x=draw.normal(2, 1, 8))


@mla.criterion("without a rotated part: keys and values from latents", points=0.5)
def _(draw):
    yield attend(weights(draw, 12, 3, 5, 0), 3, x=draw.normal(2, 7, 12))
    yield attend(weights(draw, 8, 4, 3, 0), 4, x=draw.normal(3, 5, 8))
    yield attend(weights(draw, 6, 1, 10, 0), 1, x=draw.normal(1, 4, 6))


@mla.criterion("with a rotated part, and one rotated key for all heads", points=1)
def _(draw):
    yield turned(attend(weights(draw, 12, 3, 5, 2), 3, x=draw.normal(2, 7, 12)), 7)
    yield turned(attend(weights(draw, 12, 2, 7, 4), 2, x=draw.normal(3, 5, 12)), 5)
    yield turned(attend(weights(draw, 8, 4, 3, 6), 4, x=draw.normal(2, 9, 8)), 9)
    yield turned(attend(weights(draw, 10, 1, 4, 8), 1, x=draw.normal(2, 6, 10)), 6)
    yield turned(attend(weights(draw, 12, 3, 12, 4), 3, x=draw.normal(1, 40, 12)), 40)
    yield attend(weights(draw, 9, 3, 5, 2), 3, x=draw.normal(3, 1, 9))
    case = attend(weights(draw, 12, 3, 5, 2), 3, x=draw.normal(2, 6, 12), earlier=[draw.normal(1, 9, 12)])
    yield turned(case.label("MultiHeadLatentAttention(12, 3, 5, 2); x (2, 6, 12), after a longer text"), 6)
    case = attend(weights(draw, 12, 3, 5, 2), 3, x=draw.normal(2, 6, 12), earlier=[draw.normal(3, 2, 12)])
    yield turned(case.label("MultiHeadLatentAttention(12, 3, 5, 2); x (2, 6, 12), after a shorter text"), 6)


@mla.criterion("masks that broadcast, and rows that are blocked throughout", points=0.5)
def _(draw):
    for shape in ((5, 5), (2, 1, 1, 5), (2, 3, 5, 5), (3, 1, 5)):
        case = attend(weights(draw, 12, 3, 7, 2), 3, x=draw.normal(2, 5, 12), mask=open_somewhere(draw, *shape))
        yield turned(case, 5)
    some = draw.chance(0.4, 5, 5)
    some[2] = True
    case = attend(weights(draw, 12, 4, 5, 2), 4, x=draw.normal(2, 5, 12), mask=some)
    yield case.with_gradients().check_with("zero_for_fully_masked_rows", mask=some, shape=(2, 4, 5, 5))
    for setting in cases.settings(masked=[True], context=[False]):
        given = cases.attention_inputs(draw, setting)
        case = attend(weights(draw, 12, 4, 5, 2), 4, training=setting.training, **given)
        yield turned(case.label(f"MultiHeadLatentAttention(12, 4, 5, 2): {setting.label}"), 5)
    case = attend(
        weights(draw, 12, 3, 5, 2),
        3,
        x=draw.normal(2, 5, 12),
        earlier=[draw.normal(2, 5, 12), open_somewhere(draw, 5, 5)],
    )
    yield turned(case.label("MultiHeadLatentAttention(12, 3, 5, 2); a call with a mask, and then one without"), 5)


@mla.criterion("gradients", points=0.5)
def _(draw):
    yield turned(attend(weights(draw, 12, 3, 5, 4), 3, training=True, x=draw.normal(2, 7, 12)).with_gradients(), 7)


@mla.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    state = {name: weight.double() for name, weight in weights(draw, 12, 3, 5, 4).items()}
    mask = open_somewhere(draw, 5, 5)
    mask[:, 1], mask[:, 2] = False, True  # a key that no query sees is not a fully blocked row
    # Angles in float32 are off by up to 1e-6 here, which is allowed
    case = attend(state, 3, x=draw.normal(2, 5, 12, dtype=torch.float64), mask=mask)
    yield case.tolerance(1e-5, 1e-5)
    unturned = {name: weight.double() for name, weight in weights(draw, 12, 3, 5, 0).items()}
    yield attend(unturned, 3, x=draw.normal(2, 5, 12, dtype=torch.float64), mask=mask)
    yield turned(attend(weights(draw, 12, 4, 5, 2), 4, x=draw.normal(2, 5, 12)), 5)
    case = attend(weights(draw, 12, 4, 5, 2), 4, x=non_contiguous(draw.normal(2, 5, 12)), mask=mask)
    yield turned(case.does_not_mutate(), 5)
    yield attend(weights(draw, 12, 4, 5, 2), 4, x=draw.normal(2, 5, 12), mask=mask).device_only()


@mla.criterion("ValueError unless n_heads divides d_model, and d_rope is even", points=0.5)
def _(draw):
    yield call(12, 5, 4, 2).raises("d_model", "n_heads")
    yield call(d_model=9, n_heads=2, d_latent=4, d_rope=2).raises("d_model", "n_heads")
    for number in (0, -3):
        yield call(12, number, 4, 2).raises("n_heads", "d_model")
    for number in (1, 5, -1, -2):
        yield call(12, 3, 4, number).raises("d_rope")
    yield call(12, 3, 5, 2).does_not_raise()
    yield call(12, 4, 20, 0).does_not_raise()
