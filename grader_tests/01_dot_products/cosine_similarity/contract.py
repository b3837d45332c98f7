"""`cosine_similarity`: dot products of directions."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from ..common import a_pair, changed_since

cosine_similarity = exercise(
    "cosine_similarity",
    see="Exercise: `cosine_similarity(a, b)`",
    forbidden=("cosine_similarity", "cosine_embedding_loss"),
    hints=(
        "The formula has a product on top and two lengths below. What are these three for `[3, 4]` and `[4, 3]`?",
        "Take the sum and the lengths over `dim=-1` only. Then all three have one number per pair of vectors, and "
        "they broadcast as the vectors do.",
        "The shape of the code: `length_a = <length of a along the last dimension>`, the same for b; `return <sum of "
        "a * b over the last dimension> / (<both lengths>)`.",
    ),
)


def some(draw, *shape):
    """Vectors with lengths above 1, for which a constant of 1e-5 never matters."""
    x = draw.normal(*shape)
    return x + x / x.norm(dim=-1, keepdim=True)


@cosine_similarity.oracle
def cosine_similarity_oracle(a, b):
    length_a, length_b = a.square().sum(-1).sqrt(), b.square().sum(-1).sqrt()
    return (a / length_a.unsqueeze(-1) * (b / length_b.unsqueeze(-1))).sum(-1)


cosine_similarity.example("the worked example", call(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0])))
cosine_similarity.example(
    "three pairs at once: opposite, perpendicular, between",
    call(
        torch.tensor([[3.0, 4.0], [1.0, 2.0], [5.0, 0.0]]),
        torch.tensor([[-6.0, -8.0], [-2.0, 1.0], [2.0, 2.0]]),
    ),
)
cosine_similarity.example(
    "leading dimensions broadcast: (2, 1, 3) and (4, 3) give (2, 4)",
    call(
        torch.tensor([[[1.0, 2.0, 2.0]], [[0.0, 3.0, -4.0]]]),
        torch.tensor([[2.0, 1.0, -2.0], [0.0, 0.5, 0.0], [-1.0, -2.0, -2.0], [6.0, 2.0, 3.0]]),
    ),
)
cosine_similarity.example(
    "a short vector has a direction too", call(torch.tensor([0.00003, 0.00004]), torch.tensor([0.00004, 0.00003]))
)
cosine_similarity.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([5.0, 12.0]), torch.tensor([4.0, 3.0])),
    call(torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64)),
    check_types=True,
)
cosine_similarity.example(
    "gradients flow back",
    call(torch.tensor([[1.0, 2.0], [0.0, 3.0]]), torch.tensor([[3.0, -1.0], [1.0, 1.0]])).with_gradients(),
)


@cosine_similarity.criterion("one pair of vectors", points=1.25)
def _(draw):
    for length, sign in ((5, 1.0), (4, -1.0), (64, 1.0)):
        a, b = a_pair(draw, length, sign=sign)
        yield call(3.0 * a, 0.2 * b)
    yield call(torch.tensor([draw.number(0.5, 2.0)]), torch.tensor([draw.number(-2.0, -0.5)]))
    yield after(a_pair(draw, 6), a_pair(draw, 6, sign=-1.0))
    yield changed_since(a_pair(draw, 7), a_pair(draw, 7, sign=-1.0))


@cosine_similarity.criterion("many pairs, and broadcasting", points=1)
def _(draw):
    yield call(some(draw, 5, 3), 4.0 * some(draw, 5, 3))
    yield call(some(draw, 2, 4, 3, 6), some(draw, 2, 4, 3, 6))
    for one, other in (
        ((4, 1, 5), (6, 5)),
        ((7,), (2, 3, 7)),
        ((2, 1, 4, 3), (5, 1, 3)),
        ((1, 5, 1, 3), (3,)),  # dimensions of size 1 that must stay
    ):
        yield call(some(draw, *one), some(draw, *other)).tries("broadcast")
    # Zeros in a vector, and numbers that sum to zero
    a = torch.tensor([[0.0, 2.0, 1.0], [1.0, -3.0, 2.0], [2.0, 0.0, 0.0]])
    yield call(a, torch.tensor([[1.0, 3.0, 0.0], [3.0, 1.0, -4.0], [-1.0, 2.0, 0.0]]))


@cosine_similarity.criterion("short and long vectors", points=0.5, tries="stretched")
def _(draw):
    for size_a, size_b, text in (
        (1e-5, 1e-5, "two vectors of a length around 0.00001"),
        (1e-10, 1e-10, "two vectors of a length around 1e-10"),
        (1e-5, 1e5, "one vector very short, the other very long"),
        (1e14, 1e14, "two vectors of a length around 1e14"),
    ):
        a, b = a_pair(draw, 5)
        yield call(size_a * a, size_b * b).label(text)


@cosine_similarity.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(*a_pair(draw, 4))
    yield call(*a_pair(draw, 4)).device_only()
    # Digits that float32 would round away; the vectors are so long that a guard such as `+ 1e-8` hardly matters
    yield call(*(1e4 * x for x in a_pair(draw, 5, dtype=torch.float64)))
    for _ in "abcd":
        yield call(*(1e7 * x for x in a_pair(draw, 6, dtype=torch.float64))).tolerance(1e-10, 1e-11)


@cosine_similarity.criterion("gradients", points=0.75)
def _(draw):
    yield call(*(30 * x for x in a_pair(draw, 5))).with_gradients()
    yield call(*(30 * x for x in a_pair(draw, 3, sign=-1.0))).with_gradients()


@cosine_similarity.criterion("gradients of many pairs", points=0.25)
def _(draw):
    yield call(40 * some(draw, 5, 3), 20 * some(draw, 5, 3)).with_gradients()
    yield call(40 * some(draw, 4, 1, 3), 20 * some(draw, 5, 3)).with_gradients().tries("broadcast")
    yield call(40 * some(draw, 2, 3), 20 * some(draw, 3)).with_gradients().tries("broadcast")
    # Some zeros in a vector
    a = torch.tensor([[0.0, 0.0, 30.0, 40.0], [20.0, 0.0, 0.0, 0.0], [0.0, -50.0, 20.0, 0.0]])
    yield call(a, 20 * some(draw, 3, 4)).with_gradients()


@cosine_similarity.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(some(draw, 3), some(draw, 3)).does_not_mutate()
    yield call(*map(non_contiguous, a_pair(draw, 5))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    yield call(*(some(draw, 3, 2, 5).transpose(0, 1) for _ in "ab")).does_not_mutate()


@cosine_similarity.sizes(points=0.25, pairs=(1, 4, 100), D=(1, 5, 100))
def _(draw, pairs, D):
    return call(some(draw, pairs, D), some(draw, pairs, D))
