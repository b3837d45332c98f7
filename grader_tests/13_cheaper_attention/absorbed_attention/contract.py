"""`absorbed_attention`: attention to latent vectors, without their keys and values."""

import math

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared import BUILT_IN
from ...shared.attending import open_somewhere
from ...shared.repeating import after
from .cases import drawn, measured

absorbed_attention = exercise(
    "absorbed_attention",
    result_names=("output", "weights"),
    forbidden=BUILT_IN,
    see="Exercise: `absorbed_attention(query, latent, W_k, W_v, mask=None)`",
    hints=(
        "A score is the product of a query, a matrix and a latent vector. In which order can you multiply the three, "
        "and which order makes a vector for each key?",
        "Cut `W_k` into heads, (H, K, C), and multiply each head's queries by its matrix: they become (B, H, T, C), "
        "and their scores with the latents are the right ones. Mix the latents themselves by the weights, and only "
        "then multiply the T mixtures by the matrices of the values.",
        "Four products, each by an `einsum` or by `@`: (B, H, T, K) to (B, H, T, C), to the scores (B, H, T, S), to "
        "the mixtures (B, H, T, C), to the output (B, H, T, K). Write down which letters two factors share, and which "
        "one is summed. With `@`, latents that broadcast over the heads are copied for each of them: give the product "
        "three dimensions. The scale is that of the queries as they were given.",
    ),
)


@absorbed_attention.oracle
def absorbed_attention_oracle(query, latent, W_k, W_v, mask=None):
    H, K = query.shape[1], query.shape[-1]
    blocked = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else mask
    blocked = blocked.expand(*query.shape[:3], latent.shape[1])
    outputs, maps = [], []
    for W, V, h in zip(W_k.chunk(H), W_v.chunk(H), range(H)):
        narrow = torch.stack([(W.T @ some.T / math.sqrt(K)) for some in query[:, h]])  # (B, C, T)
        scores = torch.where(blocked[:, h], -math.inf, (latent @ narrow).mT)
        top = scores.detach().amax(-1, keepdim=True)
        grown = torch.exp(scores - torch.where(torch.isfinite(top), top, 0.0))
        total = grown.sum(-1, keepdim=True)
        maps.append(grown / torch.where(total == 0, 1.0, total))
        outputs.append(torch.stack([(V @ (c.T @ some.T)).T for c, some in zip(latent, maps[-1])]))
    return torch.stack(outputs, 1), torch.stack(maps, 1)


# One head. The keys are log 3 and 0, the values 4 and 8: weights 3/4 and 1/4
QUERY = torch.tensor([[[[1.0]]]])
LATENT = torch.tensor([[[1.0986123, 1.0], [0.0, 2.0]]])
W_K, W_V = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 4.0]])


def two_heads():
    query = torch.tensor([[[[1.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [-1.0, 0.0]]]])
    latent = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [1.0, 1.0, 0.0]]])
    W_k = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, -1.0]])
    W_v = torch.tensor([[1.0, 0.0, 1.0], [0.0, 3.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    return query, latent, W_k, W_v


absorbed_attention.example("one head, two latents", call(QUERY, LATENT, W_K, W_V))
absorbed_attention.example(
    "two heads of width 2",
    call(*two_heads()).with_gradients().label("two heads of width 2: query (1, 2, 2, 2), latent (1, 3, 3)"),
    check_types=True,
)
absorbed_attention.example(
    "a mask, and a query that sees nothing",
    call(*two_heads(), torch.tensor([[False, False, True], [True, True, True]]))
    .with_gradients()
    .label("the two heads of width 2, with mask=torch.tensor([[False, False, True], [True, True, True]])"),
)


@absorbed_attention.example("what one query takes: multiplications, and the largest tensor")
def _():
    yield measured(_Fixed(), B=1, H=2, T=1, S=20, C=6, K=8)


@absorbed_attention.criterion("the same as with keys and values", points=0.5)
def _(draw):
    yield call(*drawn(draw))
    yield call(*drawn(draw, B=3, H=1, T=5, S=4, C=6, K=2))
    yield call(*drawn(draw, B=1, H=4, T=1, S=9, C=3, K=5))
    yield call(*drawn(draw, B=2, H=2, T=3, S=1, C=4, K=6))
    yield call(*drawn(draw, B=1, H=1, T=2, S=3, C=9, K=4))
    yield call(*drawn(draw, B=2, H=5, T=5, S=5, C=5, K=5))
    yield after(drawn(draw), drawn(draw))


@absorbed_attention.criterion("masks that broadcast, and rows that are blocked throughout", points=0.5)
def _(draw):
    for shape in ((4, 6), (2, 1, 1, 6), (2, 3, 4, 6), (3, 1, 6), (6,)):
        yield call(*drawn(draw), open_somewhere(draw, *shape))
    yield call(*drawn(draw, T=5, S=5), mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    some = open_somewhere(draw, 4, 6)
    some[2] = True
    yield call(*drawn(draw), some).label("a row that is blocked throughout")
    yield call(*drawn(draw), torch.tensor([True, False]).view(2, 1, 1, 1)).label("a text that is blocked throughout")


@absorbed_attention.criterion("scores of any size", points=0.25)
def _(draw):
    # All scores of a case are about 1e13, or all about -1e13, and far apart: each row has one weight of 1
    latent = torch.stack([draw.permutation(6).float() + 1.0, torch.ones(6)], 1)[None]
    W_k = torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    smallest, largest = int(latent[0, :, 0].argmin()), int(latent[0, :, 0].argmax())
    for sign in (1.0, -1.0):
        query = sign * 4e12 * draw.uniform(1, 1, 3, 4, low=1.0, high=2.0)
        words = f"scores of about {'-' * (sign < 0)}1e13"
        yield call(query, latent, W_k, draw.normal(4, 2)).label(words)
        mask = draw.chance(0.5, 3, 6)
        mask[:, largest], mask[:, smallest] = True, False
        yield call(query, latent, W_k, draw.normal(4, 2), mask).label(f"{words}, some blocked")


@absorbed_attention.criterion("no keys, no values: multiplications and the largest tensor", points=1.5)
def _(draw):
    yield measured(draw, H=4, T=1, S=60, C=8, K=16)
    yield measured(draw, H=3, T=2, S=80, C=12, K=5)
    yield measured(draw, H=6, T=1, S=150, C=4, K=6)
    yield measured(draw, H=2, T=3, S=40, C=24, K=9, mask=open_somewhere(draw, 3, 40))
    # A head's keys alone are small, but cost as many multiplications as all together
    yield measured(draw, H=8, T=1, S=100, C=30, K=4)


@absorbed_attention.criterion("in a batch, the latents are not copied for each head", points=0.5)
def _(draw):
    # (B, H, S, C) is several times the largest tensor that is needed
    yield measured(draw, B=4, H=6, T=1, S=90, C=10, K=8)
    yield measured(draw, B=3, H=5, T=2, S=60, C=16, K=6, mask=open_somewhere(draw, 3, 1, 1, 60))
    yield measured(draw, B=2, H=8, T=3, S=50, C=20, K=5)


@absorbed_attention.criterion(
    "gradients, never NaN; float64, any layout and device, arguments left alone", points=0.75, check_types=True
)
def _(draw):
    yield call(*drawn(draw)).with_gradients()
    some = open_somewhere(draw, 4, 6)
    some[1] = True
    yield call(*drawn(draw), some).with_gradients("finite")
    yield call(*drawn(draw, dtype=torch.float64), open_somewhere(draw, 4, 6))
    yield call(*drawn(draw))
    yield call(*map(non_contiguous, drawn(draw)), mask=non_contiguous(open_somewhere(draw, 4, 6))).does_not_mutate()
    yield call(*drawn(draw), open_somewhere(draw, 2, 1, 4, 6)).does_not_mutate()
    yield call(*drawn(draw), open_somewhere(draw, 4, 6)).device_only()
    yield call(*drawn(draw)).device_only()


class _Fixed:
    """Numbers for an example, in place of random ones."""

    def normal(self, *shape, scale=1.0):
        return torch.arange(1.0, math.prod(shape) + 1).sin().reshape(shape) * scale
