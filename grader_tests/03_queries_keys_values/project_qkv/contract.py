"""`project_qkv`: queries, keys and values as three products with the same x."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.repeating import after
from .cases import words_and_matrices

project_qkv = exercise(
    "project_qkv",
    result_names=("query", "key", "value"),
    see="3. Three roles for one word",
    hints=(
        "The equations are at the start of the section. What is the shape of $X W_v$ if $X$ has the shape $(T, D)$?",
        "Three matrix products, one for each role. All three begin with `x`. How does `@` treat leading dimensions?",
        "`return x @ ..., x @ ..., x @ ...`, in the order query, key, value. No transpose is needed, because the "
        "matrices are stored as (in, out).",
    ),
)


@project_qkv.oracle
def project_qkv_oracle(x, W_q, W_k, W_v):
    return tuple(torch.einsum("...td,dk->...tk", x, W) for W in (W_q, W_k, W_v))


project_qkv.example(
    "the worked example",
    call(
        torch.tensor([[1.0, 2.0]]),
        torch.tensor([[1.0], [0.0]]),
        torch.tensor([[0.0], [3.0]]),
        torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]),
    ).does_not_mutate(),
)
project_qkv.example(
    "float32 in, float32 out; float64 in, float64 out",
    *(
        call(
            torch.tensor([[0.5, 2.0]], dtype=dtype),
            torch.tensor([[1.0], [2.0]], dtype=dtype),
            torch.tensor([[0.1], [3.0]], dtype=dtype),
            torch.tensor([[1.0, 0.0], [0.3, 1.0]], dtype=dtype),
        )
        for dtype in (torch.float32, torch.float64)
    ),
    check_types=True,
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
    yield call(*words_and_matrices(draw, 5, D=6, K=4, V=3))
    yield call(*words_and_matrices(draw, 4, D=3, K=5, V=7))
    yield call(*words_and_matrices(draw, 2, D=4, K=4, V=4))
    yield call(*words_and_matrices(draw, 4, D=1, K=2, V=1))
    x, *matrices = words_and_matrices(draw, 3, D=5, K=4, V=2)
    yield call(1e15 * x, *matrices).label("words of numbers around 1e15")
    yield after(*(words_and_matrices(draw, 3, D=4, K=5, V=2) for _ in "ab"))


@project_qkv.criterion("any leading dimensions", points=0.5)
def _(draw):
    yield call(*words_and_matrices(draw, 2, 5, D=6, K=4, V=3))
    yield call(*words_and_matrices(draw, 2, 3, 5, D=4, K=6, V=7))
    yield call(*words_and_matrices(draw, 1, 1, D=3, K=1, V=2))
    yield call(*words_and_matrices(draw, 3, 3, D=3, K=3, V=3))


@project_qkv.criterion("gradients", points=0.5)
def _(draw):
    yield call(*words_and_matrices(draw, 4, D=6, K=5, V=3)).with_gradients()
    yield call(*words_and_matrices(draw, 3, D=4, K=5, V=6)).with_gradients()


@project_qkv.criterion("float64 stays float64, float32 float32, on any device", points=0.5, check_types=True)
def _(draw):
    yield call(*words_and_matrices(draw, 2, D=3, K=5, V=4))
    yield call(*words_and_matrices(draw, 2, D=3, K=5, V=4)).device_only()
    yield call(*words_and_matrices(draw, 5, D=3, K=4, V=6, dtype=torch.float64))
    # Digits that float32 would round away
    yield call(*words_and_matrices(draw, 4, D=3, K=5, V=2, dtype=torch.float64)).tolerance(1e-10, 1e-11)


@project_qkv.criterion("arguments, contiguous or not, stay as they were", points=0.5)
def _(draw):
    yield call(*words_and_matrices(draw, 5, D=3, K=4, V=6)).does_not_mutate()
    yield call(*words_and_matrices(draw, 4, D=3, K=3, V=3)).does_not_mutate()
    yield call(*map(non_contiguous, words_and_matrices(draw, 4, D=6, K=3, V=5))).does_not_mutate()
    # Leading dimensions in another order in memory, which `view` cannot merge
    x, *matrices = words_and_matrices(draw, 3, 2, 4, D=5, K=6, V=2)
    yield call(x.transpose(0, 1), *matrices).does_not_mutate()
