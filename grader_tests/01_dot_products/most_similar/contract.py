"""`most_similar`: for each query the place of the key with the highest cosine."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import changed_since
from .cases import clear_winners, rows_with_a_lead

most_similar = exercise(
    "most_similar",
    see="Exercise: `most_similar(queries, keys)`",
    hints=(
        "Suppose you had the cosine of every query with every key, `(..., T, S)`. Do you look for the winner along "
        "the queries or along the keys? And do you want the winner's cosine or its index?",
        "Divide all vectors by their lengths first: then their dot products are cosines, and `similarity_scores` takes "
        "all of them at once. Or let `cosine_similarity` broadcast `(..., T, 1, D)` against `(..., 1, S, D)`.",
        "The shape of the code: `similarity = <cosines of all pairs, (..., T, S)>`, then `return <the index of the "
        "largest along the last dimension>`.",
    ),
)


@most_similar.oracle
def most_similar_oracle(queries, keys):
    units = keys / keys.norm(dim=-1, keepdim=True)
    # A query's own length (above zero) does not affect its comparisons
    scores = torch.einsum("...tk,...sk->...ts", queries, units)
    best = scores.amax(dim=-1, keepdim=True)
    places = torch.arange(keys.shape[-2], device=keys.device).expand(scores.shape)
    return torch.where(scores == best, places, keys.shape[-2]).amin(dim=-1)


most_similar.example(
    "the worked example",
    call(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[5.0, 5.0], [3.0, 0.0], [-1.0, 2.0]])),
)
most_similar.example(
    "a batch of two",
    call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 3.0]]]),
        torch.tensor([[[9.0, 4.0], [0.0, 5.0], [1.0, 1.0]], [[2.0, 9.0], [1.0, 1.0], [-1.0, 2.0]]]),
    ),
)
most_similar.example(
    "the indices are int64, for float64 too",
    call(torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 2.0], [1.0, 1.0]])),
    call(torch.tensor([[2.0, 1.0]]).double(), torch.tensor([[1.0, 2.0], [1.0, 1.0]]).double()),
    check_types=True,
)
most_similar.example(
    "of equal keys the first", call(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0], [4.0, 0.0], [4.0, 0.0]]))
)


@most_similar.criterion("finds the direction that fits best", points=1.75)
def _(draw):
    yield call(*clear_winners(draw, queries=9, keys=5, width=3))
    yield call(*clear_winners(draw, queries=12, keys=7, width=2))
    yield call(*clear_winners(draw, queries=1, keys=4, width=6))
    yield call(*clear_winners(draw, queries=3, keys=1, width=4, away=True))
    yield call(torch.tensor([[2.0], [-3.0], [0.5]]), torch.tensor([[-1.0], [4.0]]))

    def all_point_away(q, k):
        away = -(q + 0.5 * k.abs() * q.sign())
        return q, torch.cat([-q, away[1:]])  # the first key least of all

    yield call(*clear_winners(draw, queries=1, keys=4, width=3, change=all_point_away, away=True)).label(
        "one query, and keys that all point away from it"
    )
    yield call(*clear_winners(draw, queries=5, keys=5, width=5))
    # A hundredth of a radian apart: the cosines differ by 1.5e-4, which half precision cannot show
    angles = torch.tensor([0.03, 0.02, 0.01])
    yield call(torch.tensor([[1.0, 0.0]]), torch.stack([angles.cos(), angles.sin()], dim=-1))
    yield call(*clear_winners(draw, queries=6, keys=6, width=4, change=lambda q, k: (2.0 * k, k))).label(
        "the keys once more, as queries"
    )
    yield after(*(clear_winners(draw, queries=6, keys=4, width=3) for _ in "ab"))
    yield changed_since(*(clear_winners(draw, queries=7, keys=4, width=3) for _ in "ab"))
    # Directions 0.0003 apart, at about a right angle to the query, on both sides: the cosines differ
    # by as much, which is a lot in float32
    turns = 0.8 + 0.0003 * draw.permutation(40)
    k = torch.stack([turns.cos(), turns.sin()], dim=-1) * draw.uniform(40, 1, low=0.5, high=2.0)
    for one in (k, k.flip(0)):  # if some are computed as equal, the first of them cannot be the best both times
        yield call(torch.tensor([[-3.0, 3.0], [3.0, -2.0]]), one).label("keys of nearly one direction")


@most_similar.criterion("batches", points=1, tries="batches")
def _(draw):
    yield call(*clear_winners(draw, 2, queries=6, keys=5, width=3))
    yield call(*clear_winners(draw, 3, 2, queries=4, keys=5, width=6))
    yield call(*clear_winners(draw, 1, 2, queries=1, keys=3, width=4))
    yield call(*clear_winners(draw, 2, 1, queries=5, keys=4, width=3))


@most_similar.criterion("the first of equal keys", points=0.5, tries="ties")
def _(draw):
    # Lengths are powers of two, so that rounding makes no difference between equal keys
    q = torch.tensor([[2.0, 2.0, -2.0, 2.0], [0.0, 0.0, 4.0, 0.0], [-1.0, 1.0, 1.0, 1.0]])
    k = torch.tensor(
        [
            [4.0, -4.0, 4.0, 4.0],
            [1.0, 1.0, -1.0, 1.0],
            [0.0, 0.0, 2.0, 0.0],
            [1.0, 1.0, -1.0, 1.0],
            [0.0, 0.0, 2.0, 0.0],
            [-8.0, 8.0, 8.0, 8.0],
            [1.0, 1.0, -1.0, 1.0],
            [-8.0, 8.0, 8.0, 8.0],
        ]
    )
    order = draw.permutation(len(k))
    yield call(q, k[order])
    yield call(q, k[order.roll(1)])  # at other positions for every order
    yield call(q[:2], k[1:2].expand(6, 4).clone())
    # Enough equal keys for a sort that is not stable to show it
    yield call(q, torch.cat([k[2:3].expand(40, 4), k[1:2].expand(50, 4)]))


@most_similar.criterion("short and long vectors", points=0.5, tries="lengths")
def _(draw):
    def mixed(q, k):
        # Each key matches a query, even the shortest one
        q = torch.cat([q, k + 0.1 * k.norm(dim=-1, keepdim=True) * q[:5] / q[:5].norm(dim=-1, keepdim=True)])
        return q * 1e-7, k * torch.tensor([[1e-5], [1e13], [1.0], [1e-3], [1e10]])

    yield call(*clear_winners(draw, queries=7, keys=5, width=3, change=mixed))

    def long(q, k):
        return q * 1e14, k * 1e14

    yield call(*clear_winners(draw, queries=8, keys=4, width=3, change=long)).label("queries and keys around 1e14")
    # The shortest key has the query's direction, and the others are far from opposite
    k = torch.tensor([[1e-5, 0.0, 0.0], [600.0, 800.0, 0.0], [5.0, -6.0, 6.0], [0.4, 0.0, 0.9]])
    q = torch.tensor([[2e-7, 0.0, 0.0], [3.0, 0.1, 0.1]])
    yield call(q, k[draw.permutation(4)])
    k = torch.tensor([[1e-7, 0.0], [1.0, 1.0], [2.0, -3.0]])
    yield call(torch.tensor([[1.0, 0.0]]), k[draw.permutation(3)]).label("a key of length 1e-7 is the best")


@most_similar.criterion(
    "indices are int64, for float64 too, on any device", points=0.5, tries="indices", check_types=True
)
def _(draw):
    yield call(*clear_winners(draw, queries=5, keys=4, width=3))
    yield call(*clear_winners(draw, queries=5, keys=4, width=3)).device_only()
    q, k = clear_winners(draw, queries=4, keys=6, width=3)
    yield call(q.double(), k.double())


@most_similar.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(*clear_winners(draw, queries=4, keys=5, width=3)).does_not_mutate()
    yield call(*map(non_contiguous, clear_winners(draw, queries=6, keys=4, width=3))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    q, k = clear_winners(draw, 3, 2, queries=5, keys=4, width=3)
    yield call(q.transpose(0, 1), k.transpose(0, 1)).does_not_mutate().tries("batches")


@most_similar.sizes(points=0.25, batch=(1, 2, 20), T=(1, 3, 40), S=(1, 4, 40), D=(2, 3, 60))
def _(draw, batch, T, S, D):
    return call(*rows_with_a_lead(draw, batch, queries=T, keys=S, width=D))
