"""`value_output_matrices`, an exercise without points: each head's effect on a word, as a matrix."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

value_output_matrices = step(
    "value_output_matrices",
    see="Exercise: `value_output_matrices(W_v, W_o, n_heads)` (extra)",
    hints=(
        "A word x becomes the values `x @ W_v.T`. Which of these D numbers are head h's, and so which *rows* of W_v "
        "made them? The merged heads go through `W_o.T`: which *columns* of W_o do head h's numbers meet?",
        "Head h's K rows of W_v, transposed, are (D, K); its K columns of W_o, transposed, are (K, D). Their product "
        "is one (D, D) matrix.",
        "Refuse an `n_heads` that does not divide D. `unflatten(0, (n_heads, -1))` makes (H, K, D) of W_v; cut the "
        "second dimension of W_o likewise; then one einsum, in which h stays and the number inside the head is summed.",
    ),
)


@value_output_matrices.oracle
def value_output_matrices_oracle(W_v, W_o, n_heads):
    width = W_v.shape[0]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {width}")
    words = torch.eye(width, dtype=W_v.dtype, device=W_v.device)
    values = (words @ W_v.T).unflatten(-1, (n_heads, -1))  # of each unit vector, in each head
    outputs = []
    for head in range(n_heads):
        merged = torch.zeros_like(values)
        merged[:, head] = values[:, head]
        outputs.append(merged.flatten(-2) @ W_o.T)
    return torch.stack(outputs)


def weights(draw, width, dtype=torch.float32):
    return draw.normal(width, width, dtype=dtype), draw.normal(width, width, dtype=dtype)


value_output_matrices.example(
    "width 2, two heads", call(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]]), 2)
)
value_output_matrices.example(
    "width 4, two heads", call(torch.arange(16.0).view(4, 4), torch.arange(16.0).view(4, 4).flip(0) - 7, n_heads=2)
)
value_output_matrices.example("three heads in a width of 4", call(torch.eye(4), torch.eye(4), 3).raises("n_heads"))
value_output_matrices.example(
    "float64 stays float64",
    call(torch.tensor([[0.1]], dtype=torch.float64), torch.tensor([[0.3]], dtype=torch.float64), 1),
    check_types=True,
)


@value_output_matrices.criterion("the matrix of each head", points=1)
def _(draw):
    for width, n_heads in ((6, 3), (8, 2), (5, 1), (4, 4), (12, 4), (9, 3), (1, 1)):
        yield call(*weights(draw, width), n_heads)


@value_output_matrices.criterion("gradients, and weights in any layout", points=0.5)
def _(draw):
    yield call(*weights(draw, 6), 2).with_gradients()
    W_v, W_o = weights(draw, 8)
    yield call(non_contiguous(W_v), W_o.T, n_heads=4)
    yield call(W_v, W_o, 2).does_not_mutate()


@value_output_matrices.criterion("ValueError unless n_heads divides the width", points=0.25)
def _(draw):
    yield call(*weights(draw, 10), 4).raises("n_heads", "W_v", "W_o")
    yield call(*weights(draw, 6), n_heads=12).raises("n_heads", "W_v", "W_o")
    for wrong in (0, -2, 2.5):
        yield call(*weights(draw, 6), wrong).raises("n_heads", "W_v", "W_o")
    yield call(*weights(draw, 6), 2).does_not_raise()
    yield call(*weights(draw, 3), 3).does_not_raise()


@value_output_matrices.criterion("float32 stays float32, float64 float64", points=0.25, check_types=True)
def _(draw):
    yield call(*weights(draw, 6), 3)
    yield call(*weights(draw, 6), 3).device_only()
    yield call(*weights(draw, 6, dtype=torch.float64), 2)
