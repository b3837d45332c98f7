"""`embed`: rows of a table, looked up by ids of any shape."""

import torch

from grading.judge.exercise import SUBJECT, Script, call, exercise, non_contiguous

embed = exercise(
    "embed",
    points=3,
    see="From words to vectors",
    hints=(
        "What does a table do with one id, say 2? And what should it do with ten ids in a row?",
        "A tensor can be indexed by a whole tensor of integers. Which dimension of the table do the ids count along, "
        "and what shape has the result?",
        "One expression is enough: the table, indexed by the ids. It takes ids of any shape, and it keeps the road "
        "open on which gradients come back. A new `nn.Embedding` made from the table would close it.",
    ),
)


@embed.oracle
def embed_oracle(token_ids, table):
    rows = torch.index_select(table, 0, token_ids.reshape(-1))
    return rows.reshape(*token_ids.shape, table.shape[1])


@embed.example("the example for paper")
def _():
    table = torch.tensor([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0]])
    yield call(torch.tensor([2, 0, 2]), table).unchanged()


embed.example(
    "two sentences of two words", call(torch.tensor([[0, 3], [1, 1]]), torch.tensor([[0.5], [1.5], [-2.5], [3.5]]))
)
embed.example(
    "gradients, where a token repeats",
    call(torch.tensor([1, 1, 0]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).with_gradients(),
)


@embed.criterion("the rows that the ids name", points=0.5)
def _(draw):
    yield call(torch.tensor([6, 0, 2, 2, 5]), draw.normal(7, 3))
    yield call(draw.integers(0, 4, 9), draw.normal(4, 6))
    yield call(torch.tensor([0]), draw.normal(1, 5))


@embed.criterion("ids of any shape", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3))
    yield call(draw.integers(0, 11, 2, 3, 4), draw.normal(11, 5))
    yield call(torch.tensor(3), draw.normal(6, 4))
    yield call(draw.integers(0, 6, 1, 4), draw.normal(6, 1))
    yield call(draw.integers(0, 6, 3, 1), draw.normal(6, 2))
    yield call(non_contiguous(draw.integers(0, 9, 4, 3)), draw.normal(9, 5))
    # The same ids a second time, and another table
    s = Script(token_ids=draw.integers(0, 7, 2, 5), table=draw.normal(7, 3), other=draw.normal(7, 3))
    s.call(SUBJECT, s.token_ids, s.table)
    s.call(SUBJECT, s.token_ids, s.other)
    yield s.case()


@embed.criterion("gradients reach the rows, and add up", points=1)
def _(draw):
    yield call(draw.permutation(8)[:5], draw.normal(8, 3)).with_gradients()
    yield call(torch.tensor([[4, 0, 4], [1, 4, 0]]), draw.normal(5, 6)).with_gradients()


@embed.criterion("float64 and tables that are not contiguous", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 5), draw.normal(7, 3, dtype=torch.float64)).with_gradients()
    yield call(draw.integers(0, 7, 2, 4), non_contiguous(draw.normal(7, 5)))
    yield call(draw.integers(0, 9, 6), draw.normal(9, 4, scale=1e15))
    # A look-up hands numbers over as they are: what float32 would round away is still there
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3, dtype=torch.float64)).within(1e-12, 1e-12)


@embed.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.integers(0, 7, 2, 5), draw.normal(7, 3)).unchanged()
    yield call(torch.tensor([6, 0, 3]), draw.normal(7, 4, scale=30.0)).unchanged()
