"""`embed`: rows of a table, looked up by ids of any shape."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous

from ...shared.repeating import after

embed = exercise(
    "embed",
    see="1. From words to vectors",
    hints=(
        "What does a table return for one id, say 2? What should it return for ten ids?",
        "You can index a tensor by a tensor of integers. Along which dimension of the table do the ids count, and "
        "what shape does the result have?",
        "One expression is enough: the table, indexed by the ids. It takes ids of any shape, and gradients flow back "
        "through it. They would not flow through a new `nn.Embedding` made from the table.",
    ),
)


def ids(draw, rows, *shape):
    """Ids for a table with this many rows, including the first and the last row's."""
    made = draw.integers(0, rows, *shape)
    made.view(-1)[0] = 0
    made.view(-1)[-1] = rows - 1
    return made


@embed.oracle
def embed_oracle(token_ids, table):
    rows = torch.index_select(table, 0, token_ids.reshape(-1))
    return rows.reshape(*token_ids.shape, table.shape[1])


@embed.example("the worked example")
def _():
    table = torch.tensor([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]])
    yield call(torch.tensor([2, 0, 2]), table).does_not_mutate()


embed.example(
    "two sentences of two words", call(torch.tensor([[0, 3], [1, 1]]), torch.tensor([[0.5], [1.5], [-2.5], [3.5]]))
)
embed.example(
    "float32 in, float32 out; float64 in, float64 out",
    call(torch.tensor([1, 0]), torch.tensor([[0.5, 1.5], [2.0, -1.0]])),
    call(torch.tensor([1, 0]), torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64)),
    check_types=True,
)
embed.example(
    "gradients, where a token repeats",
    call(torch.tensor([1, 1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).with_gradients(),
)


@embed.criterion("the rows that the ids name", points=1)
def _(draw):
    yield call(torch.tensor([6, 0, 2, 2, 5]), draw.normal(7, 3))
    yield call(ids(draw, 4, 9), draw.normal(4, 6))
    yield call(torch.tensor([0]), draw.normal(1, 5))
    yield call(ids(draw, 9, 6), draw.normal(9, 4, scale=1e15))
    # As many rows as in a vocabulary, more than 16 bits can count; rows that come again take little room
    table = (torch.arange(80_000.0) % 254).view(40_000, 2)
    yield call(torch.tensor([39_999, 3, 32_768, draw.integer(33_000, 39_000)]), table)
    # The same ids a second time, and another table
    twice = ids(draw, 7, 5)
    yield after((twice, draw.normal(7, 3)), (twice, draw.normal(7, 3)))
    # The same ids and the same table, which was trained in between
    first = ids(draw, 6, 4)
    s = Script(first=first, then=first.clone(), table=draw.normal(6, 3))
    s.call(EXERCISE, s.first, s.table)
    s.call(method(s.table, "mul_"), -2.0)
    s.call(EXERCISE, s.then, s.table)
    yield s.case().label("the second of two calls, between which the numbers of the table have changed")


@embed.criterion("ids of any shape", points=1, tries="shape")
def _(draw):
    # The last row is not among them, so the largest id does not give the length of the table
    yield call(draw.integers(0, 6, 2, 5), draw.normal(7, 3))
    yield call(draw.integers(0, 10, 2, 3, 4), draw.normal(11, 5))
    yield call(torch.tensor(3), draw.normal(6, 4))
    yield call(draw.integers(0, 5, 1, 4), draw.normal(6, 1))
    yield call(draw.integers(0, 5, 3, 1), draw.normal(6, 2))


@embed.criterion("gradients reach the rows, and add up", points=0.75)
def _(draw):
    yield call(torch.cat([draw.permutation(7)[:4], torch.tensor([7])]), draw.normal(8, 3)).with_gradients()
    yield call(torch.tensor([4, 0, 4, 1, 4, 0]), draw.normal(5, 6)).with_gradients().tries("repeats")


@embed.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(ids(draw, 5, 4), draw.normal(5, 3))
    yield call(ids(draw, 5, 4), draw.normal(5, 3)).device_only()
    # A look-up does not change numbers: digits that float32 would round away remain
    yield call(ids(draw, 7, 5), draw.normal(7, 3, dtype=torch.float64)).tolerance(1e-12, 1e-12)


@embed.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(ids(draw, 7, 5), draw.normal(7, 3)).does_not_mutate()
    yield call(torch.tensor([6, 0, 3]), draw.normal(7, 4, scale=30.0)).does_not_mutate()
    yield call(ids(draw, 7, 4), non_contiguous(draw.normal(7, 5))).does_not_mutate()
    yield call(non_contiguous(ids(draw, 9, 4, 3)), draw.normal(9, 5)).does_not_mutate()


@embed.sizes(points=0.25, N=(1, 7, 300), D=(1, 3, 30), n_ids=(1, 5, 50))
def _(draw, N, D, n_ids):
    return call(draw.integers(0, N, n_ids), draw.normal(N, D))
