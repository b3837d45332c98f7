"""`project_qkv`: queries, keys and values as three products with the same x."""

import torch

from grading.judge.exercise import call, exercise, non_contiguous

project_qkv = exercise(
    "project_qkv",
    points=3,
    see="Three roles for one word",
    hints=(
        "The equations stand right above the exercise. What is the shape of $X W_v$, if $X$ has the shape $(T, D)$?",
        "Three products of matrices, one for each role. All three begin with `x`. Does `@` mind leading dimensions?",
        "`return x @ ..., x @ ..., x @ ...`: in the order query, key, value, and with no transpose anywhere, since the "
        "matrices come as (in, out).",
    ),
)


@project_qkv.oracle
def project_qkv_oracle(x, W_q, W_k, W_v):
    return tuple(torch.einsum("...td,dk->...tk", x, W) for W in (W_q, W_k, W_v))


project_qkv.example(
    "the example for paper",
    call(
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[1.0], [0.0]]),
        torch.tensor([[0.0], [3.0]]),
        torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
    ).unchanged(),
)
project_qkv.example(
    "square matrices, two sentences, and the gradients",
    call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 0.5]]]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([[0.0, 1.0], [-1.0, 0.0]]),
        torch.tensor([[2.0, 0.0], [1.0, 1.0]]),
    ).with_gradients(),
)


@project_qkv.criterion("query, key and value", points=1)
def _(draw):
    yield call(draw.normal(5, 6), draw.normal(6, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(4, 3), draw.normal(3, 5), draw.normal(3, 5), draw.normal(3, 7))
    yield call(draw.normal(2, 4), draw.normal(4, 4), draw.normal(4, 4), draw.normal(4, 4))


@project_qkv.criterion("any leading dimensions, and sizes of one", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 6), draw.normal(6, 4), draw.normal(6, 4), draw.normal(6, 3))
    yield call(draw.normal(2, 3, 5, 4), draw.normal(4, 6), draw.normal(4, 6), draw.normal(4, 7))
    yield call(draw.normal(1, 1, 3), draw.normal(3, 1), draw.normal(3, 1), draw.normal(3, 2))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3), draw.normal(3, 3), draw.normal(3, 3))
    yield call(draw.normal(4, 1), draw.normal(1, 2), draw.normal(1, 2), draw.normal(1, 1))


@project_qkv.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(4, 6), draw.normal(6, 5), draw.normal(6, 5), draw.normal(6, 3)).with_gradients()
    yield call(draw.normal(2, 3, 4), draw.normal(4, 5), draw.normal(4, 5), draw.normal(4, 6)).with_gradients()


@project_qkv.criterion("float64 and tensors that are not contiguous", points=0.5)
def _(draw):
    wide = torch.float64
    yield call(
        draw.normal(2, 5, 3, dtype=wide),
        draw.normal(3, 4, dtype=wide),
        draw.normal(3, 4, dtype=wide),
        draw.normal(3, 6, dtype=wide),
    ).with_gradients()
    yield call(
        non_contiguous(draw.normal(2, 4, 6)),
        non_contiguous(draw.normal(6, 3)),
        non_contiguous(draw.normal(6, 3)),
        non_contiguous(draw.normal(6, 5)),
    )
    yield call(draw.normal(3, 5, scale=1e12), draw.normal(5, 4, scale=1e3), draw.normal(5, 4), draw.normal(5, 2))
    # What float32 would round away
    yield call(
        draw.normal(4, 3, dtype=wide),
        draw.normal(3, 5, dtype=wide),
        draw.normal(3, 5, dtype=wide),
        draw.normal(3, 2, dtype=wide),
    ).within(1e-10, 1e-11)


@project_qkv.criterion("arguments are left alone", points=0.5)
def _(draw):
    yield call(draw.normal(2, 5, 3), draw.normal(3, 4), draw.normal(3, 4), draw.normal(3, 6)).unchanged()
    yield call(draw.normal(4, 3), draw.normal(3, 3), draw.normal(3, 3), draw.normal(3, 3)).unchanged()
