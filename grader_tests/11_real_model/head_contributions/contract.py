"""`head_contributions`, an exercise without points: what each head adds in one direction."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

head_contributions = step(
    "head_contributions",
    see="Exercise: `head_contributions(head_outputs, W_o, direction)` (extra)",
    hints=(
        "The heads' outputs are merged side by side, head 0 first, and multiplied by `W_o.T`. Which columns of `W_o` "
        "does head h meet? Try it with two heads of width 1.",
        "The contribution of a head is linear in its output, and so is a dot product: direction · (W_h o) = "
        "(direction W_h) · o. The bracket is a vector of the width of one head, the same for every text and token.",
        "`direction @ W_o` is (D,), with the numbers of head 0 first. View it as (H, 1, K), multiply, and sum over the "
        "last dimension.",
    ),
)


@head_contributions.oracle
def head_contributions_oracle(head_outputs, W_o, direction):
    _, H, _, K = head_outputs.shape
    added = torch.einsum("bhtk,dhk->bhtd", head_outputs, W_o.unflatten(1, (H, K)))
    return torch.einsum("bhtd,d->bht", added, direction)


PAPER = torch.tensor([3.0, 5.0]).view(1, 2, 1, 1), torch.tensor([[1.0, 2.0], [3.0, 1.0]]), torch.tensor([1.0, -1.0])
head_contributions.example("the one on paper", call(*PAPER))
head_contributions.example(
    "two heads of width 2, three tokens",
    call(torch.arange(12.0).view(1, 2, 3, 2), torch.arange(16.0).view(4, 4), torch.tensor([1.0, 0.0, -1.0, 2.0])),
)
head_contributions.example("one head", call(torch.tensor([[[[1.0, 2.0]]]]), PAPER[1], PAPER[2]))
head_contributions.example("float64 stays float64", call(*(tensor.double() for tensor in PAPER)), check_types=True)


def drawn(draw, B, H, T, K, **options):
    """Outputs of H heads of width K, the matrix W_o and a direction."""
    return draw.normal(B, H, T, K, **options), draw.normal(H * K, H * K, **options), draw.normal(H * K, **options)


@head_contributions.criterion("a number for each head", points=1)
def _(draw):
    yield call(*drawn(draw, 1, 3, 1, 2))
    yield call(*drawn(draw, 1, 2, 1, 5))
    yield call(*drawn(draw, 1, 4, 1, 1))
    yield call(*drawn(draw, 1, 1, 1, 4)).label("one head")


@head_contributions.criterion("every text and token", points=0.5)
def _(draw):
    yield call(*drawn(draw, 3, 2, 5, 4)).with_gradients()
    yield call(*drawn(draw, 3, 3, 3, 3))
    yield call(*drawn(draw, 2, 4, 3, 2)).does_not_mutate()


@head_contributions.criterion("float64, any layout and device", points=0.5, check_types=True)
def _(draw):
    yield call(*drawn(draw, 2, 3, 4, 2))
    yield call(*drawn(draw, 2, 3, 4, 2, dtype=torch.float64))
    outputs, W_o, direction = drawn(draw, 2, 3, 4, 2)
    yield call(non_contiguous(outputs), non_contiguous(W_o), non_contiguous(direction))
    yield call(outputs.transpose(1, 2).contiguous().transpose(1, 2), W_o, direction).label("heads split by a view")
    yield call(*drawn(draw, 2, 3, 4, 2)).device_only()
