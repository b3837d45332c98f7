"""`qk_circuit`: one head's queries and keys as a single matrix."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ..common import CIRCUITS

qk_circuit = exercise(
    "qk_circuit",
    see=CIRCUITS,
    hints=(
        "A head's query is `W_q[rows] @ x_q`, a vector of K numbers; its key likewise. Write their dot "
        "product with the "
        "two vectors x at the outside: which matrices are between them, and which of them is transposed?",
        "Head h owns K = D / n_heads neighbouring rows of both weights. The score is x_q · (its rows of W_q, "
        "transposed) · (its rows of W_k) · x_k.",
        "Two checks that raise ValueError, with the name and the value of what was wrong. Then "
        "`rows = slice(head * K, …)` and a product of two slices of shapes (D, K) and (K, D).",
    ),
)


@qk_circuit.oracle
def qk_circuit_oracle(W_q, W_k, head, n_heads):
    width = W_q.shape[0]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {width}")
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}")
    query, key = (W.unflatten(0, (n_heads, -1))[head] for W in (W_q, W_k))
    return torch.einsum("kd,ke->de", query, key)


qk_circuit.example(
    "width 2, two heads", call(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]]), 1, 2)
)
qk_circuit.example(
    "width 4, two heads",
    call(torch.arange(16.0).view(4, 4), torch.eye(4), head=0, n_heads=2).with_gradients(),
    check_types=True,
)
qk_circuit.example("head 2 of two", call(torch.eye(4), torch.eye(4), 2, 2).raises("head"))
qk_circuit.example(
    "three heads in a width of 4", call(torch.eye(4), torch.eye(4), 0, 3).raises("n_heads", "W_q", "W_k")
)


@qk_circuit.criterion("the matrix between two vectors", points=1)
def _(draw):
    for width, head, n_heads in ((6, 1, 3), (8, 0, 2), (12, 2, 4), (5, 0, 1), (10, 4, 5), (3, 2, 3), (1, 0, 1)):
        yield call(draw.normal(width, width), draw.normal(width, width), head, n_heads)


@qk_circuit.criterion("ValueError for a number of heads, or a head, that cannot be", points=0.5)
def _(draw):
    def two(width):
        return draw.normal(width, width), draw.normal(width, width)

    yield call(*two(10), 1, 4).raises("n_heads", "W_q", "W_k")
    yield call(*two(6), 0, 12).raises("n_heads", "W_q", "W_k")
    for number in (0, -2, 2.5):
        yield call(*two(6), 0, number).raises("n_heads", "head", "W_q", "W_k")
    yield call(*two(12), 3, 3).raises("head")
    yield call(*two(12), 7, 3).raises("head")
    yield call(*two(6), -1, 2).raises("head")
    yield call(*two(6), -2, 2).raises("head")
    yield call(*two(6), 0, 2).does_not_raise()
    yield call(*two(6), 2, 3).does_not_raise()
    yield call(*two(6), 5, 6).does_not_raise()


@qk_circuit.criterion("gradients", points=0.25)
def _(draw):
    yield call(draw.normal(6, 6), draw.normal(6, 6), 1, 3).with_gradients()
    yield call(draw.normal(8, 8), draw.normal(8, 8), head=1, n_heads=2).with_gradients()


@qk_circuit.criterion("float64, any layout and device, arguments left alone", points=0.25, check_types=True)
def _(draw):
    yield call(draw.normal(6, 6, dtype=torch.float64), draw.normal(6, 6, dtype=torch.float64), 2, 3)
    yield call(non_contiguous(draw.normal(8, 8)), draw.normal(8, 8).T, 1, 4)
    yield call(draw.normal(8, 8), draw.normal(8, 8), 1, 2).does_not_mutate()
    yield call(draw.normal(6, 6), draw.normal(6, 6), 1, 2).device_only()
