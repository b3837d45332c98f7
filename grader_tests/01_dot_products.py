"""Lesson 01: the dot product, cosine similarity, all scores at once, the most similar key.

Mutants of the solutions that survive `grading check` are equivalent: what stands in for a length
of 0 may be any number (0 divided by it is 0), `transpose` takes its two dimensions in either order,
and a cosine its two vectors.
"""

import math

import torch
import torch.nn.functional as F

from grading.judge.exercise import call, exercise, non_contiguous


def a_pair(draw, *shape, sign=1.0, dtype=torch.float32):
    """Two tensors whose vectors share a direction in part, so that no dot product nearly cancels.

    What is left of one that does depends on the order of its additions, and any order is right.
    """
    a = draw.normal(*shape, dtype=dtype)
    return a, sign * (0.7 * a + 0.7 * draw.normal(*shape, dtype=dtype).abs() * a.sign())


# --------------------------------------------------------------------------------------------- dot

dot = exercise(
    "dot",
    points=4,
    see="Exercise 1: `dot(a, b)`",
    forbidden=(
        ".*dot",
        "inner",
        ".*matmul",
        ".*mm",
        "(add)?mv",
        "einsum",
        "((lazy)?bi|tri|lazy|mkldnn)?linear",
    ),
)
dot.hints = (
    "Take `[2, 0, -1]` and `[3, 7, 4]` and a pencil. What do you do first, place by place? What "
    "do you do with the three numbers that you get? And what should happen if one of the two is "
    "not a plain list of numbers?",
    "Two steps: `a * b` gives the products, and a tensor has a method that adds up all its "
    "numbers. Before them come the checks, for `a * b` would stretch shapes that do not fit: look "
    "at how many dimensions each argument has, and at whether the two shapes are equal.",
    "The shape of the code: `if <a or b is not one-dimensional>: raise ValueError(f'a has the "
    "shape {tuple(a.shape)}, …')`, the same for shapes that differ, and then one line that "
    "returns <the sum of> <the products>.",
)


@dot.oracle
def dot_oracle(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"a has the shape {tuple(a.shape)} and b {tuple(b.shape)}; both must be (K,)"
        )
    return torch.linalg.vecdot(a, b)


@dot.example("the one on paper")
def _():
    yield call(torch.tensor([2.0, 0.0, -1.0]), torch.tensor([3.0, 7.0, 4.0]))


@dot.example("four numbers, and a negative result")
def _():
    yield call(torch.tensor([1.0, -2.0, 0.5, 3.0]), torch.tensor([-4.0, 1.0, 6.0, -2.0]))


@dot.example("float64 in, float64 out")
def _():
    yield call(
        torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64)
    )


@dot.example("gradients flow back")
def _():
    yield call(torch.tensor([1.0, -2.0, 3.0]), torch.tensor([4.0, 5.0, -6.0])).with_gradients()


@dot.example("shapes that differ are refused")
def _():
    yield call(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.0])).raising("a", "b")


@dot.example("a column is refused")
def _():
    yield call(torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]])).raising("a", "b")


@dot.criterion("multiplies place by place and adds up", points=1.5)
def _(draw):
    for length, sign in ((7, 1.0), (5, -1.0), (1, -1.0), (300, 1.0)):
        yield call(*a_pair(draw, length, sign=sign))
    a, b = a_pair(draw, 6)
    yield call(non_contiguous(a), non_contiguous(b))
    a, b = a_pair(draw, 8)
    yield call(1e15 * a, -1e14 * b).described("dot of two vectors of 8 numbers around 1e15")
    a, b = a_pair(draw, 40)
    yield call(1e-3 * a, 1e-2 * b).described("dot of two vectors of 40 numbers around 0.01")


@dot.criterion("float64 stays float64", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 9, dtype=torch.float64))
    # The large terms cancel, which float64 survives with eight digits to spare and float32 does not
    large = torch.tensor([1e6, 0.0, 1e6], dtype=torch.float64)
    middle = torch.tensor([0.0, draw.number(1.0, 2.0), 0.0], dtype=torch.float64)
    yield call(large + middle, torch.tensor([1.0, 3.0, -1.0], dtype=torch.float64))


@dot.criterion("refuses shapes that differ", points=0.5)
def _(draw):
    yield call(draw.normal(4), draw.normal(3)).raising("a", "b")
    yield call(draw.normal(1), draw.normal(5)).raising("a", "b")  # would broadcast
    yield call(draw.normal(4), draw.normal(4, 1)).raising(
        "a", "b"
    )  # would broadcast; equal lengths
    yield call(draw.normal(1, 3), draw.normal(3)).raising(
        "a", "b"
    )  # would broadcast; equal numbers of elements
    yield call(draw.normal(3), torch.tensor(draw.number(1.0, 2.0))).raising("a", "b")


@dot.criterion("refuses what is not one-dimensional", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3), draw.normal(2, 3)).raising("a", "b")
    yield call(draw.normal(1, 4), draw.normal(1, 4)).raising("a", "b")
    yield call(draw.normal(5, 1), draw.normal(5, 1)).raising("a", "b")
    yield call(torch.tensor(draw.number(1.0, 2.0)), torch.tensor(draw.number(1.0, 2.0))).raising(
        "a", "b"
    )


@dot.criterion("gradients", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 6)).with_gradients()
    yield call(*a_pair(draw, 3, dtype=torch.float64)).with_gradients()


@dot.criterion("arguments stay as they were", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 5)).unchanged()


VALUES = "multiplies place by place and adds up"
SHAPES = ("refuses shapes that differ", "refuses what is not one-dimensional")


@dot.mistake(
    "You return the products, place by place, but not their sum: a dot product is *one* number.",
    shows=VALUES,
)
def returns_the_products(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return a * b


@dot.mistake(
    "Your result is the dot product divided by the number of places: you take the mean of the "
    "products where their sum is asked for.",
    shows=VALUES,
)
def takes_the_mean(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).mean()


@dot.mistake(
    "You add the numbers place by place; the dot product *multiplies* them, and adds afterwards.",
    shows=VALUES,
)
def adds_instead_of_multiplying(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a + b).sum()


@dot.mistake(
    "You multiply the two sums. The sum of the products is another thing: multiply place by place "
    "first, then add.",
    shows=VALUES,
)
def multiplies_the_sums(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return a.sum() * b.sum()


@dot.mistake(
    "Only the first place counts in your result. Does the `return` stand inside the loop, so that "
    "it ends the function in the first round?",
    shows=VALUES,
)
def returns_in_the_first_round(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    total = 0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
        return total


@dot.mistake(
    "The last place is missing from your sum: `range(K - 1)` ends one too early, `range(K)` counts "
    "from 0 to K − 1.",
    shows=VALUES,
)
def skips_the_last_place(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a[:-1] * b[:-1]).sum()


@dot.mistake(
    "The signs are lost in your result: a place where the signs differ counts *against* the rest.",
    shows=VALUES,
)
def loses_the_signs(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).abs().sum()


@dot.mistake(
    "Your result has the shape `(1,)`: a list of one number. Asked for is the number itself, of "
    "shape `()`.",
    shows=VALUES,
)
def keeps_the_dimension(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum(dim=0, keepdim=True)


@dot.mistake(
    "You divide the lengths out, which makes the result a cosine. That is the next exercise; the "
    "dot product keeps them.",
    shows=VALUES,
)
def divides_the_lengths_out(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum() / (a.norm() * b.norm())


@dot.mistake(
    "You return a plain Python number (by `.item()` or `float`). Return a tensor of shape `()`: "
    "gradients can flow through a tensor only.",
    shows=(VALUES, "gradients"),
)
def returns_a_python_number(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum().item()


@dot.mistake(
    "The value is right, but no gradient flows through it: you take plain numbers out of the "
    "tensors (`.item()`, `.tolist()`, `.detach()`, `.numpy()`, `torch.tensor(...)`) and build a "
    "new tensor from them.",
    shows="gradients",
)
def makes_a_new_tensor(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return torch.tensor((a * b).sum().item(), dtype=a.dtype)


@dot.mistake(
    "Float64 vectors must give a float64 result: keep the dtype of the arguments, and convert "
    "nothing to float32.",
    shows="float64 stays float64",
)
def always_answers_in_float32(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a.float() * b.float()).sum()


@dot.mistake(
    "Float32 vectors must give a float32 result: keep the dtype of the arguments. (To compute in "
    "float64 is fine, if you convert back.)",
    shows=VALUES,
)
def always_answers_in_float64(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a.double() * b.double()).sum()


@dot.mistake(
    "The arguments are not checked. PyTorch stretches shapes that do not fit, as with `(3,)` and "
    "`(3, 1)`, and gives a number that means nothing: raise a ValueError before you multiply.",
    shows=SHAPES,
    see="1. Multiply, then add",
)
def lets_any_shapes_pass(a, b):
    return (a * b).sum()


@dot.mistake(
    "You compare lengths (or numbers of elements), not shapes: `(3,)` and `(3, 1)` have equal "
    "lengths and still do not fit. Compare `shape`, and look at `ndim`.",
    shows=SHAPES,
    see="1. Multiply, then add",
)
def compares_lengths_only(a, b):
    if len(a) != len(b):
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()


@dot.mistake(
    "Shapes that differ are refused, as they should be. But two matrices of *equal* shape pass: "
    "`dot` takes one-dimensional tensors only.",
    shows="refuses what is not one-dimensional",
)
def lets_two_matrices_pass(a, b):
    if a.shape != b.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()


@dot.mistake(
    "Matrices are refused, as they should be. But two vectors of different lengths pass, and "
    "PyTorch either stretches one of them or stops with an error of its own: compare the two "
    "shapes as well.",
    shows="refuses shapes that differ",
)
def lets_different_lengths_pass(a, b):
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()


@dot.mistake(
    "You refuse the right things, but the message does not say enough: it must name `a` or `b` "
    "and the shape that it had, so that whoever reads it knows where to look.",
    shows=SHAPES,
)
def says_too_little(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError("the shapes do not fit")
    return (a * b).sum()


@dot.mistake(
    "You refuse the right things with the wrong kind of error: an `assert` raises AssertionError, "
    "and it is skipped altogether under `python -O`. Say `raise ValueError(...)`.",
    shows=SHAPES,
)
def asserts(a, b):
    assert a.ndim == 1 and a.shape == b.shape
    return (a * b).sum()


@dot.mistake(
    "Your function changes its argument: `a *= b` and methods that end in `_` write into the "
    "tensor that the caller still needs. Make a new tensor.",
    shows="arguments stay as they were",
)
def multiplies_in_place(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    a *= b
    return a.sum()


@dot.mistake(
    "Only the last place counts in your result: in every round the total is overwritten. Add to "
    "it (`total = total + …`).",
    shows=VALUES,
)
def overwrites_the_total(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return a[-1] * b[-1]


@dot.mistake(
    "The first place is missing from your sum: places are counted from 0, so a loop over "
    "`range(1, K)` starts one too late.",
    shows=VALUES,
)
def skips_the_first_place(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a[1:] * b[1:]).sum()


@dot.mistake(
    "The result has the right dtype, but it was computed in float32 and converted afterwards: the "
    "digits that float64 has more are lost by then.",
    shows="float64 stays float64",
)
def computes_in_float32_and_converts(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a.float() * b.float()).sum().to(a.dtype)


@dot.mistake(
    "You refuse the right things with the wrong kind of error. The types are right, their shapes are not: that is a "
    "ValueError, not a TypeError.",
    shows=SHAPES,
)
def raises_a_type_error(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise TypeError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()


@dot.mistake(
    "You refuse the right things with the wrong kind of error: a ValueError says that an argument was wrong, a "
    "RuntimeError only that something went wrong.",
    shows=SHAPES,
)
def raises_a_runtime_error(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise RuntimeError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()


@dot.mistake(
    "You notice the wrong shapes and return `None`. Whoever called goes on with it and fails elsewhere: raise a "
    "ValueError.",
    shows=SHAPES,
)
def returns_none_for_wrong_shapes(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        return None
    return (a * b).sum()


@dot.mistake(
    "Your function returns nothing: the number is computed, or printed, and then forgotten. Say `return`.",
    shows=(VALUES, "gradients"),
)
def forgets_to_return(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")


@dot.mistake(
    "The gradient reaches one of the two vectors only: the other one is detached (`detach`, `.data`, `.item()`).",
    shows="gradients",
)
def cuts_off_the_second_vector(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b.detach()).sum()


@dot.mistake(
    "You multiply the two lengths. That is the greatest value that the dot product could have; how well the "
    "directions agree is missing.",
    shows=VALUES,
)
def multiplies_the_lengths(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return a.norm() * b.norm()


@dot.mistake(
    "Vectors of different lengths pass, and the longer one is cut: `zip` stops with the shorter. Raise a ValueError "
    "before you multiply.",
    shows="refuses shapes that differ",
)
def stops_with_the_shorter(a, b):
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    length = min(len(a), len(b))
    return (a[:length] * b[:length]).sum()


@dot.alternative
def by_a_loop(a, b):
    if a.dim() != 1:
        raise ValueError(f"a must be one-dimensional, but its shape is {list(a.shape)}")
    if b.dim() != 1:
        raise ValueError(f"b must be one-dimensional, but its shape is {list(b.shape)}")
    if len(a) != len(b):
        raise ValueError(f"b has {len(b)} elements where a has {len(a)}")
    total = a.new_zeros(())
    for k in range(len(a)):
        total = total + a[k] * b[k]
    return total


@dot.alternative
def by_zip_and_sum(a, b):
    shapes = {"a": a.shape, "b": b.shape}
    for name, shape in shapes.items():
        if len(shape) != 1 or shape != a.shape:
            raise ValueError(f"{name}: expected shape (K,), got {shape}")
    return sum(x * y for x, y in zip(a, b, strict=True))


@dot.alternative
def by_the_diagonal_of_all_products(a, b):
    if not (a.ndim == b.ndim == 1 and a.size() == b.size()):
        raise ValueError(f"a.shape={tuple(a.shape)} does not fit b.shape={tuple(b.shape)}")
    return torch.outer(a, b).diagonal().sum()


@dot.alternative
def by_a_running_sum(a, b):
    if a.ndim != 1 or tuple(b.shape) != tuple(a.shape):
        raise ValueError("bad shapes: a is " + str(a.shape) + ", b is " + str(b.shape))
    return torch.cumsum(torch.mul(a, b), dim=0)[-1]


@dot.alternative
def with_a_gradient_of_its_own(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.shape[0] != b.shape[0]:
        raise ValueError(f"a {tuple(a.shape)} and b {tuple(b.shape)} should both be (K,)")

    class Dot(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return (x * y).sum()

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    return Dot.apply(a, b)


@dot.alternative
def by_halves(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.numel() != b.numel():
        raise ValueError(
            f"The argument a has shape {tuple(a.shape)}; the argument b has shape {tuple(b.shape)}."
        )

    def total(products):
        if products.numel() == 1:
            return products.reshape(())
        half = products.numel() // 2
        return total(products[:half]) + total(products[half:])

    return total(a * b)


@dot.alternative
def telling_the_values(a, b):
    if not (a.ndim == 1 and a.shape == b.shape):
        raise ValueError(f"no dot product for a = {a} and b = {b}")
    return F.conv1d(a.reshape(1, 1, -1), b.reshape(1, 1, -1)).reshape(())


# ------------------------------------------------------------------------------- cosine_similarity

cosine_similarity = exercise(
    "cosine_similarity",
    points=6,
    see="Exercise 2: `cosine_similarity(a, b)`",
    forbidden=("cosine_similarity",),
)
cosine_similarity.hints = (
    "What is left of a vector once you divide it by its own length? What does the dot product of "
    "two such vectors tell? And which vectors cannot be divided by their length?",
    "Vectors lie along the *last* dimension: take lengths and sums over `dim=-1` only, and keep "
    "that dimension for as long as you divide by it (`keepdim=True`). For a vector of zeros put "
    "some other number in the place of its length *before* you divide: any will do, since 0 "
    "divided by it is 0, and no NaN is ever made.",
    "The shape of the code: `length_a = <length of a along the last dimension, kept>`, the same "
    "for b; `length_a = torch.where(<it is zero>, <something harmless>, length_a)`, the same for "
    "b; `return <sum over the last dimension of> (a / length_a) * (b / length_b)`.",
)


@cosine_similarity.oracle
def cosine_similarity_oracle(a, b):
    # The square root has no finite derivative at 0, so that a gradient which does not exist is
    # NaN here, and not judged; the other vector's, which is 0 there, is.
    length_a, length_b = a.square().sum(-1).sqrt(), b.square().sum(-1).sqrt()
    length_a = torch.where(length_a == 0, torch.ones_like(length_a), length_a)
    length_b = torch.where(length_b == 0, torch.ones_like(length_b), length_b)
    return (a / length_a.unsqueeze(-1) * (b / length_b.unsqueeze(-1))).sum(-1)


@cosine_similarity.example("the one on paper")
def _():
    yield call(torch.tensor([3.0, 4.0]), torch.tensor([4.0, 3.0]))


@cosine_similarity.example("three pairs at once: opposite, perpendicular, between")
def _():
    yield call(
        torch.tensor([[3.0, 4.0], [1.0, 2.0], [5.0, 0.0]]),
        torch.tensor([[-6.0, -8.0], [-2.0, 1.0], [2.0, 2.0]]),
    )


@cosine_similarity.example("leading dimensions broadcast: (2, 1, 3) and (4, 3) give (2, 4)")
def _():
    yield call(
        torch.tensor([[[1.0, 2.0, 2.0]], [[0.0, 3.0, -4.0]]]),
        torch.tensor([[2.0, 1.0, -2.0], [0.0, 0.5, 0.0], [-1.0, -2.0, -2.0], [6.0, 2.0, 3.0]]),
    )


@cosine_similarity.example("a vector of zeros")
def _():
    yield call(
        torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]),
        torch.tensor([[1.0, 2.0], [0.0, 2.0], [0.0, 0.0]]),
    )


@cosine_similarity.example("a short vector has a direction too")
def _():
    yield call(torch.tensor([0.00003, 0.00004]), torch.tensor([0.00004, 0.00003]))


@cosine_similarity.example("float64 in, float64 out")
def _():
    yield call(
        torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([3.0, 4.0], dtype=torch.float64)
    )


@cosine_similarity.example("gradients flow back, and are finite at zero")
def _():
    yield call(
        torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[3.0, -1.0], [1.0, 1.0]])
    ).with_gradients(undefined="finite")


@cosine_similarity.criterion("one pair of vectors", points=1)
def _(draw):
    for length, sign in ((5, 1.0), (4, -1.0), (64, 1.0)):
        a, b = a_pair(draw, length, sign=sign)
        yield call(3.0 * a, 0.2 * b)
    yield call(torch.tensor([draw.number(0.5, 2.0)]), torch.tensor([draw.number(-2.0, -0.5)]))


@cosine_similarity.criterion("many pairs, and broadcasting", points=1)
def _(draw):
    yield call(draw.normal(5, 3), draw.normal(5, 3, scale=4.0))
    yield call(draw.normal(2, 4, 3, 6), draw.normal(2, 4, 3, 6))
    yield call(draw.normal(4, 1, 5), draw.normal(6, 5))
    yield call(draw.normal(7), draw.normal(2, 3, 7))
    yield call(draw.normal(2, 1, 4, 3), draw.normal(5, 1, 3))
    yield call(draw.normal(1, 5, 1, 3), draw.normal(3))  # dimensions of size 1 that must stay
    yield call(non_contiguous(draw.normal(3, 4, 5)), non_contiguous(draw.normal(4, 5)))
    yield call(*(draw.normal(3, 2, 5).transpose(0, 1) for _ in "ab"))


@cosine_similarity.criterion("vectors of zeros", points=1)
def _(draw):
    zero, some = torch.zeros(4), draw.normal(4)
    yield call(zero, some)
    yield call(some, zero)
    yield call(zero, zero)
    a, b = draw.normal(6, 3), draw.normal(6, 3)
    a[1], b[3], a[4], b[4] = 0.0, 0.0, 0.0, 0.0
    yield call(a, b)
    yield call(a.unsqueeze(1), b[:5])
    # Zeros in a vector, or numbers that sum to zero, do not make it a vector of zeros
    yield call(
        torch.tensor([[0.0, 2.0, 1.0], [1.0, -1.0, 0.0], [2.0, 0.0, 0.0]]),
        torch.tensor([[1.0, 3.0, 0.0], [3.0, 1.0, -4.0], [-1.0, 2.0, 0.0]]),
    )


@cosine_similarity.criterion("short and long vectors", points=0.5)
def _(draw):
    a, b = a_pair(draw, 3, 5)
    yield call(1e-5 * a, 1e-5 * b).described("vectors of a length around 0.00001")
    yield call(1e-5 * a, 1e5 * b).described("one vector very short, the other very long")
    yield call(1e14 * a, 1e14 * b).described("vectors of a length around 1e14")
    a, b = a_pair(draw, 5)
    yield call(1e-5 * a, 1e-5 * b).described("two vectors of a length around 0.00001")


@cosine_similarity.criterion("float64 stays float64", points=0.5)
def _(draw):
    yield call(*a_pair(draw, 5, dtype=torch.float64))
    yield call(draw.normal(3, 1, 4, dtype=torch.float64), draw.normal(2, 4, dtype=torch.float64))
    # What float32 would round away
    yield call(*a_pair(draw, 4, 5, dtype=torch.float64)).within(1e-10, 1e-11)


@cosine_similarity.criterion("gradients", points=1)
def _(draw):
    yield call(*a_pair(draw, 5)).with_gradients()
    yield call(draw.normal(4, 1, 3, scale=2.0), draw.normal(5, 3)).with_gradients()
    yield call(
        draw.normal(2, 3, dtype=torch.float64), draw.normal(3, dtype=torch.float64)
    ).with_gradients()


@cosine_similarity.criterion("gradients near a vector of zeros", points=0.5)
def _(draw):
    a, b = draw.normal(5, 3), draw.normal(5, 3)
    a[1], b[3], a[4], b[4] = 0.0, 0.0, 0.0, 0.0
    yield call(a, b).with_gradients(undefined="finite")
    yield call(a.unsqueeze(1), b[:4]).with_gradients(undefined="finite")


@cosine_similarity.criterion("arguments stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(4, 3), draw.normal(4, 3)).unchanged()
    a, b = draw.normal(4, 3), draw.normal(4, 3)
    a[2], b[1] = 0.0, 0.0
    yield call(a, b).unchanged()


ONE, MANY = "one pair of vectors", "many pairs, and broadcasting"


@cosine_similarity.mistake(
    "You divide by one of the two lengths only. Then a long vector still looks more alike than a "
    "short one: your result should not change when either vector is made ten times as long.",
    shows=(ONE, MANY),
    see="8. Seen in the wild",
)
def normalises_one_side_only(a, b):
    length_a = a.norm(dim=-1, keepdim=True)
    return (a / torch.where(length_a == 0, 1, length_a) * b).sum(-1)


@cosine_similarity.mistake(
    "You divide by the same vector's length twice. Swap the two arguments: the cosine must stay "
    "the same.",
    shows=(ONE, MANY),
    see="8. Seen in the wild",
)
def divides_by_one_length_twice(a, b):
    length_b = b.norm(dim=-1)
    return (a * b).sum(-1) / torch.where(length_b == 0, 1, length_b).square()


@cosine_similarity.mistake(
    "You divide by the *squares* of the lengths: the length is the square root of the sum of "
    "squares.",
    shows=(ONE, MANY),
)
def forgets_the_square_root(a, b):
    squares_a, squares_b = (a * a).sum(-1), (b * b).sum(-1)
    squares_a = torch.where(squares_a == 0, 1, squares_a)
    return (a * b).sum(-1) / (squares_a * torch.where(squares_b == 0, 1, squares_b))


@cosine_similarity.mistake(
    "You return the dot product: the lengths are not divided out.", shows=(ONE, MANY)
)
def returns_the_dot_product(a, b):
    return (a * b).sum(-1)


@cosine_similarity.mistake(
    "You measure length as the sum of magnitudes. The length of an arrow is the square root of "
    "the sum of *squares*.",
    shows=(ONE, MANY),
)
def measures_length_by_magnitudes(a, b):
    length_a, length_b = a.abs().sum(-1), b.abs().sum(-1)
    return (
        (a * b).sum(-1)
        / torch.where(length_a == 0, 1, length_a)
        / torch.where(length_b == 0, 1, length_b)
    )


@cosine_similarity.mistake(
    "You return a distance, 1 minus the cosine. Asked for is the cosine itself: 1 for the same "
    "direction, −1 for the opposite one.",
    shows=(ONE, MANY),
)
def returns_a_distance(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return 1 - (unit_a * unit_b).sum(-1)


@cosine_similarity.mistake(
    "You squeeze the cosine into 0 to 1, by adding 1 and halving. Asked for is the cosine itself, "
    "from −1 to 1.",
    shows=(ONE, MANY),
    see="7. Is it a bug?",
)
def squeezes_it_into_zero_to_one(a, b):
    return ((F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1) + 1) / 2


@cosine_similarity.mistake(
    "You return the angle. Asked for is its cosine, so stop one step earlier.", shows=(ONE, MANY)
)
def returns_the_angle(a, b):
    cosine = (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)
    return torch.acos(cosine.clamp(-1, 1))


@cosine_similarity.mistake(
    "Negative cosines are lost: an angle of more than 90° has a negative cosine, and that is what "
    "tells opposite from alike.",
    shows=(ONE, MANY),
    see="7. Is it a bug?",
)
def cuts_off_at_zero(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1).clamp(min=0)


@cosine_similarity.mistake(
    "Every negative cosine has become positive. The sign is the message: opposite vectors have "
    "the cosine −1.",
    shows=(ONE, MANY),
    see="7. Is it a bug?",
)
def loses_the_sign(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1).abs()


@cosine_similarity.mistake(
    "You take lengths or sums over the whole tensor, so that a bunch of vectors is treated as "
    "one. Name the dimension: `dim=-1`.",
    shows=MANY,
)
def takes_the_bunch_for_one_vector(a, b):
    length_a, length_b = a.norm(), b.norm()
    return (
        (a * b).sum()
        / torch.where(length_a == 0, 1, length_a)
        / torch.where(length_b == 0, 1, length_b)
    )


@cosine_similarity.mistake(
    "The sums run along each vector, but the lengths are those of the whole tensor: give `norm` a "
    "`dim` as well.",
    shows=MANY,
)
def takes_one_length_for_all(a, b):
    length_a, length_b = a.norm(), b.norm()
    return (
        (a * b).sum(-1)
        / torch.where(length_a == 0, 1, length_a)
        / torch.where(length_b == 0, 1, length_b)
    )


@cosine_similarity.mistake(
    "You work along the first dimension; the vectors lie along the last, `dim=-1`.", shows=MANY
)
def works_along_the_first_dimension(a, b):
    unit_a, unit_b = F.normalize(a, dim=0), F.normalize(b, dim=0)
    return (unit_a * unit_b).sum(0)


@cosine_similarity.mistake(
    "You work along dimension 1 (the default of `F.normalize`, too). The vectors lie along the "
    "last dimension, which is number 1 for a matrix only: say `dim=-1`.",
    shows=(ONE, MANY),
)
def works_along_dimension_1(a, b):
    return (F.normalize(a) * F.normalize(b)).sum(-1)


@cosine_similarity.mistake(
    "Your result keeps the last dimension, with size 1. `keepdim=True` is right for the lengths, "
    "not for the result: `(..., K)` becomes `(...)`.",
    shows=(ONE, MANY),
)
def keeps_the_last_dimension(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1, keepdim=True)


@cosine_similarity.mistake(
    "`squeeze()` without a dimension removes *every* dimension of size 1, also those that belong "
    "to the batch: say which one should go, `squeeze(-1)`.",
    shows=MANY,
)
def squeezes_everything(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1, keepdim=True).squeeze()


@cosine_similarity.mistake(
    "A vector of zeros gives NaN: its length is 0, and 0 / 0 is not a number. The answer there is "
    "0.",
    shows=("vectors of zeros", "gradients near a vector of zeros"),
    see="A vector of zeros has no direction",
)
def divides_zero_by_zero(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1))


@cosine_similarity.mistake(
    "You guard the length of `a` against zero, not that of `b`. Either vector may be all zeros.",
    shows=("vectors of zeros", "gradients near a vector of zeros"),
    see="A vector of zeros has no direction",
)
def guards_the_first_length_only(a, b):
    length_a = a.norm(dim=-1)
    length_a = torch.where(length_a == 0, 1, length_a)
    return (a * b).sum(-1) / (length_a * b.norm(dim=-1))


@cosine_similarity.mistake(
    "Where vectors are zero the value is 0, but the gradient is NaN: 0 / 0 is still computed, and "
    "only then replaced. Mend the length *before* you divide by it.",
    shows="gradients near a vector of zeros",
    see="A vector of zeros has no direction",
)
def moves_the_nan_to_the_gradient(a, b):
    return torch.nan_to_num((a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)))


@cosine_similarity.mistake(
    "The values are right, but at a vector of zeros the gradient is NaN: you mend the length after "
    "its square root, and the root itself has an infinite slope at 0. Mend what stands under the "
    "root, or use `norm`, which takes care of it.",
    shows="gradients near a vector of zeros",
    see="A vector of zeros has no direction",
)
def takes_the_root_of_zero(a, b):
    length_a, length_b = a.square().sum(-1).sqrt(), b.square().sum(-1).sqrt()
    length_a = torch.where(length_a == 0, 1, length_a)
    length_b = torch.where(length_b == 0, 1, length_b)
    return (a * b).sum(-1) / (length_a * length_b)


@cosine_similarity.mistake(
    "Two vectors of zeros get the cosine 1 from you. Equal they are, but they have no direction: "
    "the answer is 0 where *either* is all zeros.",
    shows="vectors of zeros",
)
def says_one_where_both_are_zero(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    both = (a == 0).all(-1) & (b == 0).all(-1)
    return torch.where(both, 1, (unit_a * unit_b).sum(-1))


@cosine_similarity.mistake(
    "One vector of zeros in a bunch makes all the answers 0. Decide for each pair by itself: "
    "`torch.where` instead of `if`.",
    shows="vectors of zeros",
)
def one_zero_spoils_the_bunch(a, b):
    length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
    lengths = length_a * length_b
    if (lengths == 0).any():
        return torch.zeros_like(lengths)
    return (a * b).sum(-1) / lengths


@cosine_similarity.mistake(
    "The small constant in your denominator bends the answer for short vectors: two arrows of "
    "length 0.00001 have an angle like any others. Treat exactly zero on its own instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def adds_a_constant_to_the_lengths(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-8)


@cosine_similarity.mistake(
    "A least value for the product of lengths (`clamp`) bends the answer for short vectors: the "
    "product of two lengths of 0.00001 is far below it. Treat exactly zero on its own instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def clamps_the_product_of_lengths(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=1e-8)


@cosine_similarity.mistake(
    "Long vectors give 0: you multiply the two *squared* lengths before you take the root, and "
    "that is more than the dtype can hold. Take each root first.",
    shows="short and long vectors",
)
def overflows_before_the_root(a, b):
    squares = (a * a).sum(-1) * (b * b).sum(-1)
    return (a * b).sum(-1) / torch.where(squares == 0, 1, squares).sqrt()


@cosine_similarity.mistake(
    "Float64 vectors must give a float64 result: keep the dtype of the arguments, and convert "
    "nothing to float32.",
    shows="float64 stays float64",
)
def computes_in_float32(a, b):
    a, b = a.float(), b.float()
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1)


@cosine_similarity.mistake(
    "The values are right, the gradients are not: you take the lengths as constants (`detach`, "
    "`no_grad`, `.item()`), yet they change with the vectors.",
    shows="gradients",
)
def takes_the_lengths_for_constants(a, b):
    length_a, length_b = (
        a.detach().norm(dim=-1, keepdim=True),
        b.detach().norm(dim=-1, keepdim=True),
    )
    unit_a, unit_b = (
        a / torch.where(length_a == 0, 1, length_a),
        b / torch.where(length_b == 0, 1, length_b),
    )
    return (unit_a * unit_b).sum(-1)


@cosine_similarity.mistake(
    "The values are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows="gradients",
)
def leaves_the_tensors(a, b):
    a, b = a.detach(), b.detach()
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1)


@cosine_similarity.mistake(
    "Your function normalises its arguments in place (`a /= …`, or writing into `a[...]`): the "
    "caller's vectors are changed. Make new tensors.",
    shows="arguments stay as they were",
)
def normalises_in_place(a, b):
    length_a, length_b = a.norm(dim=-1, keepdim=True), b.norm(dim=-1, keepdim=True)
    a /= torch.where(length_a == 0, 1, length_a)
    b /= torch.where(length_b == 0, 1, length_b)
    return (a * b).sum(-1)


@cosine_similarity.mistake(
    "You divide by the length of `b` only. Then a long `a` still looks more alike than a short "
    "one: your result should not change when either vector is made ten times as long.",
    shows=(ONE, MANY),
    see="8. Seen in the wild",
)
def normalises_the_other_side_only(a, b):
    length_b = b.norm(dim=-1, keepdim=True)
    return (a * (b / torch.where(length_b == 0, 1, length_b))).sum(-1)


@cosine_similarity.mistake(
    "Your result is the cosine divided by K: you take the mean of the products where their sum is "
    "asked for.",
    shows=(ONE, MANY),
)
def takes_the_mean_of_the_products(a, b):
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).mean(-1)


@cosine_similarity.mistake(
    "You subtract each vector's mean first. That is the correlation; the cosine takes the vectors "
    "as they are.",
    shows=(ONE, MANY),
)
def subtracts_the_means(a, b):
    a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


@cosine_similarity.mistake(
    "You compare every vector of `a` with every one of `b`. Here they are compared place by place, "
    "the first with the first: `(..., K)` and `(..., K)` give `(...)`.",
    shows=MANY,
)
def compares_every_pair(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return unit_a @ (unit_b.mT if b.ndim > 1 else unit_b)


@cosine_similarity.mistake(
    "The small constant in your denominator is not small beside the product of two short lengths: "
    "two arrows of length 0.00001 have an angle like any others. Treat exactly zero on its own "
    "instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def adds_a_millionth_to_the_lengths(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-6)


@cosine_similarity.mistake(
    "Even a very small constant in the denominator bends the answer for short vectors, whose "
    "lengths multiply to something smaller still. Treat exactly zero on its own instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def adds_a_tiny_constant_to_the_lengths(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + 1e-12)


@cosine_similarity.mistake(
    "A small constant added to *each* length bends the answer for short vectors, too. Treat "
    "exactly zero on its own instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def adds_a_constant_to_each_length(a, b):
    return (a * b).sum(-1) / ((a.norm(dim=-1) + 1e-8) * (b.norm(dim=-1) + 1e-8))


@cosine_similarity.mistake(
    "The result has the right dtype, but it was computed in float32 and converted afterwards: the "
    "digits that float64 has more are lost by then.",
    shows="float64 stays float64",
)
def computes_the_cosine_in_float32(a, b):
    unit_a, unit_b = F.normalize(a.float(), dim=-1), F.normalize(b.float(), dim=-1)
    return (unit_a * unit_b).sum(-1).to(a.dtype)


@cosine_similarity.mistake(
    "Float32 vectors must give a float32 result: keep the dtype of the arguments. (To compute in "
    "float64 is fine, if you convert back.)",
    shows=(ONE, MANY),
)
def answers_with_a_float64_cosine(a, b):
    a, b = a.double(), b.double()
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


@cosine_similarity.mistake(
    "The lengths do not line up with their vectors: `norm` and `sum` drop the dimension that they run along, and the "
    "division needs it back. Say `keepdim=True`.",
    shows=(MANY, "gradients"),
)
def loses_the_dimension_of_the_lengths(a, b):
    length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
    length_a = torch.where(length_a == 0, 1, length_a)
    return (a / length_a * (b / torch.where(length_b == 0, 1, length_b))).sum(-1)


@cosine_similarity.mistake(
    "You divide by the *sum* of the two lengths. It is their product: each vector is divided by its own.",
    shows=(ONE, MANY),
)
def divides_by_the_sum_of_lengths(a, b):
    lengths = a.norm(dim=-1) + b.norm(dim=-1)
    return (a * b).sum(-1) / torch.where(lengths == 0, 1, lengths)


@cosine_similarity.mistake(
    "Your function takes shapes that are equal only. The leading dimensions broadcast: (4, 1, K) and (6, K) give "
    "(4, 6).",
    shows=MANY,
)
def refuses_shapes_that_broadcast(a, b):
    if a.shape != b.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


@cosine_similarity.alternative
def by_normalize(a, b):
    return (F.normalize(a, dim=-1) * F.normalize(b, dim=-1)).sum(-1)


@cosine_similarity.alternative
def by_masking_the_product_of_lengths(a, b):
    lengths = torch.linalg.vector_norm(a, dim=-1) * torch.linalg.vector_norm(b, dim=-1)
    nothing = lengths.eq(0)
    return torch.sum(a * b, -1).div(lengths.masked_fill(nothing, 1.0)).masked_fill(nothing, 0.0)


@cosine_similarity.alternative
def by_einsum_and_the_largest_number(a, b):
    # Scaled by each vector's largest magnitude first, as careful libraries do
    def scaled(v):
        largest = v.abs().amax(-1, keepdim=True).detach()
        return v / torch.where(largest > 0, largest, torch.ones_like(largest))

    x, y = scaled(a), scaled(b)
    xx, yy = torch.einsum("...k,...k->...", x, x), torch.einsum("...k,...k->...", y, y)
    some = (xx > 0) & (yy > 0)
    xx, yy = torch.where(some, xx, 1.0), torch.where(some, yy, 1.0)
    return torch.where(some, torch.einsum("...k,...k->...", x, y) * xx.rsqrt() * yy.rsqrt(), 0.0)


@cosine_similarity.alternative
def pair_by_pair(a, b):
    a, b = torch.broadcast_tensors(a, b)
    leading = a.shape[:-1]
    found = []
    for x, y in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), strict=True):
        if not x.any() or not y.any():
            found.append((x * y).sum())  # zero, and still part of the graph
        else:
            found.append((x * y).sum() / (x.pow(2).sum() ** 0.5 * y.pow(2).sum() ** 0.5))
    return torch.stack(found).reshape(leading)


@cosine_similarity.alternative
def by_a_guarded_root(a, b):
    tiny = torch.finfo(a.dtype).tiny
    aa, bb = (a**2).sum(-1), (b**2).sum(-1)
    return (a * b).sum(-1) / aa.clamp_min(tiny).sqrt() / bb.clamp_min(tiny).sqrt()


@cosine_similarity.alternative
def by_matrix_products(a, b):
    def unit(v):
        length = torch.sqrt((v.unsqueeze(-2) @ v.unsqueeze(-1)).squeeze(-1).clamp(min=1e-36))
        return v / length

    return (unit(a).unsqueeze(-2) @ unit(b).unsqueeze(-1))[..., 0, 0]


# ------------------------------------------------------------------------------- similarity_scores

similarity_scores = exercise(
    "similarity_scores", points=5, see="Exercise 3: `similarity_scores(queries, keys)`"
)
similarity_scores.hints = (
    "For one query and one key you know the answer. Which of the two should be the row of the "
    "result, which the column? What shape does that make, for 3 queries and 6 keys of 4 numbers "
    "each?",
    "A matrix product dots the rows of the left matrix with the *columns* of the right one. The "
    "keys lie in rows: turn them over, but only their last two dimensions.",
    "The shape of the code: `return queries @ <keys with the last two dimensions swapped>`. "
    "`transpose` takes the two dimensions to be swapped, and counts from the end with negative "
    "numbers.",
)


@similarity_scores.oracle
def similarity_scores_oracle(queries, keys):
    return torch.einsum("...tk,...sk->...ts", queries, keys)


@similarity_scores.example("the one on paper")
def _():
    yield call(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [0.0, 5.0], [-1.0, 1.0]]))


@similarity_scores.example("two queries, three keys, and gradients")
def _():
    yield call(
        torch.tensor([[1.0, 0.0, -2.0, 1.0], [0.5, 3.0, 1.0, -1.0]]),
        torch.tensor([[2.0, 1.0, 0.0, 1.0], [-1.0, 2.0, 4.0, 0.0], [1.0, 1.0, -1.0, 3.0]]),
    ).with_gradients()


@similarity_scores.example("a batch of two")
def _():
    yield call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 3.0]]]),
        torch.tensor(
            [[[3.0, 4.0], [0.0, 5.0], [-1.0, 1.0]], [[2.0, 0.0], [1.0, 1.0], [4.0, -2.0]]]
        ),
    )


@similarity_scores.example("float64 in, float64 out")
def _():
    yield call(
        torch.tensor([[0.1, 0.2]], dtype=torch.float64),
        torch.tensor([[3.0, 4.0]], dtype=torch.float64),
    )


@similarity_scores.criterion("a matrix of queries, a matrix of keys", points=1.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4))
    yield call(draw.normal(6, 3), draw.normal(2, 3))
    yield call(draw.normal(1, 5), draw.normal(4, 5))
    yield call(draw.normal(4, 3), draw.normal(1, 3))
    yield call(draw.normal(3, 1), draw.normal(4, 1))
    yield call(draw.normal(4, 4), draw.normal(4, 4)).described(
        "as many queries as keys as numbers in each"
    )
    yield call(non_contiguous(draw.normal(3, 5)), non_contiguous(draw.normal(4, 5)))
    q, k = a_pair(draw, 4, 3)
    yield call(1e15 * q, 1e14 * k).described("vectors of 3 numbers around 1e15")


@similarity_scores.criterion("batches", points=1.5)
def _(draw):
    yield call(draw.normal(2, 3, 4), draw.normal(2, 5, 4))
    yield call(draw.normal(2, 3, 4, 6), draw.normal(2, 3, 5, 6))
    yield call(draw.normal(3, 1, 2, 1, 5), draw.normal(3, 1, 2, 4, 5))
    yield call(draw.normal(1, 4, 3), draw.normal(1, 2, 3))
    yield call(draw.normal(3, 3, 3), draw.normal(3, 3, 3)).described(
        "a batch of 3 with 3 queries and 3 keys of 3 numbers"
    )
    yield call(non_contiguous(draw.normal(2, 4, 3)), non_contiguous(draw.normal(2, 5, 3)))
    # Leading dimensions that lie in another order in memory, which `view` cannot merge
    yield call(draw.normal(3, 2, 4, 5).transpose(0, 1), draw.normal(3, 2, 6, 5).transpose(0, 1))


@similarity_scores.criterion("float64 stays float64", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4, dtype=torch.float64), draw.normal(2, 4, dtype=torch.float64))
    yield call(draw.normal(2, 3, 4, dtype=torch.float64), draw.normal(2, 5, 4, dtype=torch.float64))
    # What float32 would round away
    q, k = a_pair(draw, 4, 6, dtype=torch.float64)
    yield call(q, k).within(1e-10, 1e-11)


@similarity_scores.criterion("gradients", points=1)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4)).with_gradients()
    yield call(draw.normal(2, 3, 4), draw.normal(2, 5, 4)).with_gradients()


@similarity_scores.criterion("arguments stay as they were", points=0.5)
def _(draw):
    yield call(draw.normal(3, 4), draw.normal(5, 4)).unchanged()
    yield call(draw.normal(4, 4), draw.normal(4, 4)).unchanged()


MATRIX = "a matrix of queries, a matrix of keys"


@similarity_scores.mistake(
    "Rows and columns are swapped: in your result a row belongs to a key. It should belong to a "
    "*query*, with one column for each key: `(..., T, S)`.",
    shows=(MATRIX, "batches"),
)
def puts_the_keys_in_rows(queries, keys):
    return keys @ queries.mT


@similarity_scores.mistake(
    "You multiply by the keys as they lie, `queries @ keys`. That dots queries with the *columns* "
    "of the keys, and those are no keys: the last two dimensions of the keys have to be swapped "
    "first.",
    shows=(MATRIX, "batches"),
    see="5. All pairs at once",
)
def does_not_transpose(queries, keys):
    return queries @ keys


@similarity_scores.mistake(
    "You compare the first query with the first key, the second with the second, and so on. Asked "
    "for is every query with *every* key.",
    shows=(MATRIX, "batches"),
)
def pairs_them_off(queries, keys):
    return (queries * keys).sum(-1)


@similarity_scores.mistake(
    "`keys.T` reverses *all* dimensions, the batch included. Swap only the last two.",
    shows="batches",
    see="5. All pairs at once",
)
def turns_all_dimensions_over(queries, keys):
    return queries @ keys.permute(*reversed(range(keys.ndim)))


@similarity_scores.mistake(
    "You swap the first two dimensions. With a single matrix they are also the last two; with a "
    "batch they are not: count from the end, with negative numbers.",
    shows="batches",
    see="5. All pairs at once",
)
def swaps_the_first_two_dimensions(queries, keys):
    return queries @ keys.transpose(0, 1)


@similarity_scores.mistake(
    "You swap dimensions 1 and 2, which are the last two only where there is exactly one batch "
    "dimension: count from the end, with negative numbers.",
    shows=(MATRIX, "batches"),
    see="5. All pairs at once",
)
def swaps_dimensions_1_and_2(queries, keys):
    return queries @ keys.transpose(1, 2)


@similarity_scores.mistake(
    "`reshape` (or `view`) to the right shape does not transpose: it reads the same numbers in "
    "the same order and breaks the lines elsewhere. Swap the dimensions.",
    shows=(MATRIX, "batches"),
    see="5. All pairs at once",
)
def reshapes_where_it_should_transpose(queries, keys):
    return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])


@similarity_scores.mistake(
    "Every query meets the keys of every element of the batch in your result. Each element of the "
    "batch is a world of its own.",
    shows="batches",
)
def mixes_the_batch(queries, keys):
    return torch.tensordot(queries, keys, dims=([-1], [-1]))


@similarity_scores.mistake(
    "Only the last two dimensions may be left after a matrix of scores, but the leading ones must "
    "stay: you sum over the batch.",
    shows="batches",
)
def sums_over_the_batch(queries, keys):
    scores = queries @ keys.mT
    return scores.sum(tuple(range(scores.ndim - 2))) if scores.ndim > 2 else scores


@similarity_scores.mistake(
    "You divide the scores by the square root of K. That is what lesson 04 will do, for a reason; "
    "here the plain dot products are asked for.",
    shows=(MATRIX, "batches"),
)
def scales_the_scores(queries, keys):
    return queries @ keys.mT / math.sqrt(keys.shape[-1])


@similarity_scores.mistake(
    "These are cosines: you divide the lengths out. Here the plain dot products are asked for.",
    shows=(MATRIX, "batches"),
)
def returns_cosines(queries, keys):
    return F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT


@similarity_scores.mistake(
    "You make weights of the scores (a softmax). That is lesson 02; here the plain dot products "
    "are asked for.",
    shows=(MATRIX, "batches"),
)
def returns_weights(queries, keys):
    return (queries @ keys.mT).softmax(-1)


@similarity_scores.mistake(
    "`squeeze()` removes every dimension of size 1, and with one query or one key that is a "
    "dimension of the result.",
    shows=(MATRIX, "batches"),
)
def squeezes_the_scores(queries, keys):
    return (queries @ keys.mT).squeeze()


@similarity_scores.mistake(
    "Float64 in must give float64 out. A tensor made by `torch.zeros(T, S)` or `torch.empty(T, "
    "S)` is float32: make it with the dtype of the queries.",
    shows="float64 stays float64",
)
def fills_a_float32_tensor(queries, keys):
    scores = torch.zeros(*queries.shape[:-1], keys.shape[-2])
    scores[...] = queries @ keys.mT
    return scores


@similarity_scores.mistake(
    "The values are right, but no gradient flows: somewhere you leave the tensors (`.item()`, "
    "`.detach()`, `.data`, `.numpy()`, `torch.tensor(...)`, `no_grad`).",
    shows="gradients",
)
def detaches_the_scores(queries, keys):
    return (queries @ keys.mT).detach()


@similarity_scores.mistake(
    "The gradient reaches the queries, but not the keys: both sides learn.", shows="gradients"
)
def cuts_the_gradient_of_the_keys(queries, keys):
    return queries @ keys.detach().mT


@similarity_scores.mistake(
    "Your function changes its arguments: methods that end in `_`, like `transpose_` and `t_`, "
    "and assignments like `*=` work on the caller's own tensor.",
    shows="arguments stay as they were",
)
def works_in_place(queries, keys):
    scores = queries @ keys.mT
    with torch.no_grad():
        keys.mul_(2)
    return scores


@similarity_scores.mistake(
    "You compare the queries with themselves: the keys do not occur in your result.",
    shows=(MATRIX, "batches"),
)
def leaves_the_keys_out(queries, keys):
    return queries @ queries.mT


@similarity_scores.mistake(
    "You take the mean of the products where their sum is asked for: every score is K times too "
    "small.",
    shows=(MATRIX, "batches"),
)
def takes_the_mean_for_a_score(queries, keys):
    return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).mean(-1)


@similarity_scores.mistake(
    "You measure distances, with a minus. Asked for are dot products.",
    shows=(MATRIX, "batches"),
)
def measures_distances(queries, keys):
    return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).norm(dim=-1)


@similarity_scores.mistake(
    "You count as many keys as there are queries. There may be more of them, or fewer: T and S are "
    "two numbers.",
    shows=(MATRIX, "batches"),
)
def counts_keys_like_queries(queries, keys):
    count = range(queries.shape[-2])
    columns = [(queries * keys[..., s, :].unsqueeze(-2)).sum(-1) for s in count]
    return torch.stack(columns, dim=-1)


@similarity_scores.mistake(
    "Your einsum has one letter for the batch, so that it takes exactly one batch dimension. Three "
    "dots (`...`) in its place stand for any number of them, none included.",
    shows=(MATRIX, "batches"),
    see="5. All pairs at once",
)
def names_one_batch_dimension(queries, keys):
    return torch.einsum("btk,bsk->bts", queries, keys)


@similarity_scores.mistake(
    "Your einsum takes one matrix of queries and one of keys, and no batch. Three dots (`...`) "
    "before the letters stand for any leading dimensions, none included.",
    shows="batches",
    see="5. All pairs at once",
)
def names_no_batch_dimension(queries, keys):
    return torch.einsum("tk,sk->ts", queries, keys)


@similarity_scores.mistake(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. "
    "`reshape` copies them where it must.",
    shows="batches",
)
def views_what_lies_in_another_order(queries, keys):
    flat_queries = queries.view(-1, *queries.shape[-2:])
    scores = flat_queries @ keys.view(-1, *keys.shape[-2:]).mT
    return scores.view(*queries.shape[:-1], keys.shape[-2])


@similarity_scores.mistake(
    "The result has the right dtype, but it was computed in float32 and converted afterwards: the "
    "digits that float64 has more are lost by then.",
    shows="float64 stays float64",
)
def computes_the_scores_in_float32(queries, keys):
    return (queries.float() @ keys.float().mT).to(queries.dtype)


@similarity_scores.mistake(
    "The gradient reaches the keys, but not the queries: both sides learn.", shows="gradients"
)
def cuts_the_gradient_of_the_queries(queries, keys):
    return queries.detach() @ keys.mT


@similarity_scores.mistake(
    "Float32 in must give float32 out: keep the dtype of the arguments. (To compute in float64 is "
    "fine, if you convert back.)",
    shows=(MATRIX, "batches"),
)
def answers_with_float64_scores(queries, keys):
    return queries.double() @ keys.double().mT


@similarity_scores.mistake(
    "The dot products come out right and then lose their signs: a negative score says that the two "
    "point apart.",
    shows=(MATRIX, "batches"),
)
def loses_the_signs_of_scores(queries, keys):
    return (queries @ keys.mT).abs()


@similarity_scores.mistake(
    "`t()` turns a matrix over, and refuses a batch of them. Swap the last two dimensions: `transpose(-2, -1)`, or "
    "`mT`.",
    shows="batches",
    see="5. All pairs at once",
)
def turns_one_matrix_over(queries, keys):
    return queries @ keys.t()


@similarity_scores.mistake(
    "`permute(0, 2, 1)` names three dimensions, so that it takes exactly one batch dimension. `transpose(-2, -1)` "
    "counts from the end, and takes any number of them.",
    shows=(MATRIX, "batches"),
    see="5. All pairs at once",
)
def permutes_three_dimensions(queries, keys):
    return queries @ keys.permute(0, 2, 1)


@similarity_scores.mistake(
    "`mm` multiplies two matrices, and no batches of them. `@` does both.",
    shows="batches",
    see="5. All pairs at once",
)
def multiplies_two_matrices_only(queries, keys):
    return torch.mm(queries, keys.permute(*reversed(range(keys.ndim))))


@similarity_scores.alternative
def by_the_attribute(queries, keys):
    return torch.matmul(queries, keys.mT)


@similarity_scores.alternative
def by_broadcasting(queries, keys):
    return (queries[..., :, None, :] * keys[..., None, :, :]).sum(dim=-1)


@similarity_scores.alternative
def by_two_loops(queries, keys):
    rows = []
    for t in range(queries.shape[-2]):
        row = [(queries[..., t, :] * keys[..., s, :]).sum(-1) for s in range(keys.shape[-2])]
        rows.append(torch.stack(row, dim=-1))
    return torch.stack(rows, dim=-2)


@similarity_scores.alternative
def by_bmm_on_a_flat_batch(queries, keys):
    leading = queries.shape[:-2]
    q, k = queries.reshape(-1, *queries.shape[-2:]), keys.reshape(-1, *keys.shape[-2:])
    return torch.bmm(q, k.permute(0, 2, 1)).reshape(*leading, q.shape[1], k.shape[1])


@similarity_scores.alternative
def by_vmap(queries, keys):
    function = torch.nn.functional.linear
    for _ in range(queries.ndim - 2):
        function = torch.vmap(function)
    return function(queries, keys)


@similarity_scores.alternative
def by_filling_a_fresh_tensor(queries, keys):
    *leading, length, _ = queries.shape
    scores = queries.new_empty(*leading, length, keys.size(-2))
    for s, key in enumerate(keys.unbind(dim=-2)):
        scores[..., s] = (queries * key.unsqueeze(-2)).sum(-1)
    return scores


# ------------------------------------------------------------------------------------ most_similar

most_similar = exercise("most_similar", points=5, see="Exercise 4: `most_similar(queries, keys)`")
most_similar.hints = (
    "Suppose you had the cosine of every query with every key, `(..., T, S)`. In which direction "
    "do you look for the winner: along the queries or along the keys? And do you want the "
    "winner's cosine, or its place?",
    "You have written cosines that broadcast. Make the queries `(..., T, 1, K)` and the keys "
    "`(..., 1, S, K)`, and they meet in `(..., T, S)`. Or divide the vectors by their lengths "
    "first and take all dot products at once.",
    "The shape of the code: `similarity = <cosines of all pairs, (..., T, S)>`, then `return <the "
    "place of the largest along the last dimension>`. `unsqueeze(d)` puts in a dimension of size "
    "1.",
)


@most_similar.oracle
def most_similar_oracle(queries, keys):
    lengths = keys.norm(dim=-1, keepdim=True)
    units = keys / torch.where(lengths == 0, torch.ones_like(lengths), lengths)
    # A query's own length (above zero) changes none of its comparisons
    scores = torch.einsum("...tk,...sk->...ts", queries, units)
    best = scores.amax(dim=-1, keepdim=True)
    places = torch.arange(keys.shape[-2]).expand(scores.shape)
    return torch.where(scores == best, places, keys.shape[-2]).amin(dim=-1)


def clear_winners(draw, *leading, queries, keys, width, change=lambda q, k: (q, k)):
    """Queries (..., T, K) and keys (..., S, K) of very different lengths.

    Every winner wins by 0.01 at least, so that rounding decides nothing. `change(q, k)` puts in
    what the case is about.
    """
    while True:
        q = draw.normal(*leading, queries, width) * draw.uniform(
            *leading, queries, 1, low=0.2, high=5.0
        )
        k = draw.normal(*leading, keys, width) * draw.uniform(*leading, keys, 1, low=0.1, high=10.0)
        q, k = change(q, k)
        cosines = F.cosine_similarity(
            q.double().unsqueeze(-2), k.double().unsqueeze(-3), dim=-1, eps=1e-30
        )
        best = cosines.topk(min(2, keys), dim=-1).values
        if keys == 1 or bool((best[..., 0] - best[..., 1] > 0.01).all()):
            return q, k


@most_similar.example("the one on paper")
def _():
    yield call(
        torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.tensor([[5.0, 5.0], [3.0, 0.0], [-1.0, 2.0]])
    )


@most_similar.example("a batch of two")
def _():
    yield call(
        torch.tensor([[[1.0, 2.0]], [[-1.0, 3.0]]]),
        torch.tensor([[[9.0, 4.0], [0.0, 5.0], [1.0, 1.0]], [[2.0, 9.0], [1.0, 1.0], [-1.0, 2.0]]]),
    )


@most_similar.example("a key of zeros loses to one that fits, and beats one that points away")
def _():
    yield call(
        torch.tensor([[1.0, 0.0], [-1.0, 0.0]]),
        torch.tensor([[0.0, 0.0], [-2.0, 1.0], [-1.0, -3.0]]),
    )


@most_similar.example("of equal keys the first")
def _():
    yield call(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0], [4.0, 0.0], [4.0, 0.0]]))


@most_similar.criterion("finds the direction that fits best", points=1.5)
def _(draw):
    yield call(*clear_winners(draw, queries=9, keys=5, width=3))
    yield call(*clear_winners(draw, queries=12, keys=7, width=2))
    yield call(*clear_winners(draw, queries=1, keys=4, width=6))
    yield call(*clear_winners(draw, queries=3, keys=1, width=4))
    yield call(*clear_winners(draw, queries=5, keys=5, width=5))
    yield call(*clear_winners(draw, queries=6, keys=6, width=4, change=lambda q, k: (2.0 * k, k))).described(
        "the keys once more, as queries"
    )
    q, k = clear_winners(draw, queries=6, keys=4, width=3)
    yield call(non_contiguous(q), non_contiguous(k))
    # Directions 0.0003 apart, seen from about a right angle away, and from both sides: the cosines
    # differ by as much, which is a lot in float32
    turns = 0.8 + 0.0003 * draw.permutation(40)
    k = torch.stack([turns.cos(), turns.sin()], dim=-1) * draw.uniform(40, 1, low=0.5, high=2.0)
    yield call(torch.tensor([[-3.0, 3.0], [3.0, -2.0]]), k).described("keys of nearly one direction")


@most_similar.criterion("batches", points=1)
def _(draw):
    yield call(*clear_winners(draw, 2, queries=6, keys=5, width=3))
    yield call(*clear_winners(draw, 3, 2, queries=4, keys=5, width=6))
    yield call(*clear_winners(draw, 1, 2, queries=1, keys=3, width=4))
    q, k = clear_winners(draw, 2, queries=5, keys=4, width=3)
    yield call(q.double(), k.double())
    q, k = clear_winners(draw, 3, 2, queries=5, keys=4, width=3)
    yield call(q.transpose(0, 1), k.transpose(0, 1))


@most_similar.criterion("vectors of zeros", points=1)
def _(draw):
    def with_a_zero_key(at):
        def change(q, k):
            k = k.clone()
            k[at] = 0.0
            return q, k

        return change

    yield call(*clear_winners(draw, queries=8, keys=4, width=3, change=with_a_zero_key(0)))
    yield call(*clear_winners(draw, queries=8, keys=4, width=3, change=with_a_zero_key(2)))

    def all_others_point_away(q, k):
        k = -(q[:1] + 0.1 * k)
        k[2] = 0.0
        return q, k

    yield call(
        *clear_winners(draw, queries=1, keys=5, width=3, change=all_others_point_away)
    ).described("one key of zeros among keys that point away from the query")
    # All cosines of a query of zeros are 0: which key it finds is open, that it finds one is not
    q, k = clear_winners(draw, queries=5, keys=4, width=3)
    q[3] = 0.0

    def holds(seen, exact):
        found, right = seen.values["result"], exact.values["result"]
        if found.dtype != torch.int64 or found.shape != right.shape:
            return f"the result has dtype {found.dtype} and shape {tuple(found.shape)}"
        if not 0 <= int(found[3]) < 4:
            return "a query of zeros gets an index that is no key's"
        others = torch.arange(5) != 3
        return (
            None
            if torch.equal(found[others], right[others])
            else "a query of zeros disturbs the others"
        )

    yield call(q, k).holding(holds).described("most_similar((5, 3), (4, 3)), one query all zeros")


@most_similar.criterion("the first of equal keys", points=0.5)
def _(draw):
    # Lengths are powers of two, so that no rounding tells equal keys apart
    q = torch.tensor([[2.0, 2.0, -2.0, 2.0], [0.0, 0.0, 4.0, 0.0], [-1.0, 1.0, 1.0, 1.0]])
    k = torch.tensor([
        [4.0, -4.0, 4.0, 4.0], [1.0, 1.0, -1.0, 1.0], [0.0, 0.0, 2.0, 0.0], [1.0, 1.0, -1.0, 1.0],
        [0.0, 0.0, 2.0, 0.0], [-8.0, 8.0, 8.0, 8.0], [1.0, 1.0, -1.0, 1.0], [-8.0, 8.0, 8.0, 8.0],
    ])  # fmt: skip
    order = draw.permutation(len(k))
    yield call(q, k[order])
    yield call(q, k[order.flip(0)])
    yield call(q[:2], k[1:2].expand(6, 4).clone())
    # Enough equal keys for a sort that is not stable to show it
    yield call(q, torch.cat([k[2:3].expand(40, 4), k[1:2].expand(50, 4)]))


@most_similar.criterion("short and long vectors", points=0.5)
def _(draw):
    def mixed(q, k):
        # Each key has a query that it fits, the shortest one too
        q = torch.cat(
            [q, k + 0.1 * k.norm(dim=-1, keepdim=True) * q[:5] / q[:5].norm(dim=-1, keepdim=True)]
        )
        return q * 1e-7, k * torch.tensor([[1e-5], [1e13], [1.0], [1e-3], [1e10]])

    yield call(*clear_winners(draw, queries=7, keys=5, width=3, change=mixed))
    # The shortest key has the query's direction, and the others are far from opposite
    k = torch.tensor([[1e-5, 0.0, 0.0], [600.0, 800.0, 0.0], [5.0, -6.0, 6.0], [0.4, 0.0, 0.9]])
    q = torch.tensor([[2e-7, 0.0, 0.0], [3.0, 0.1, 0.1]])
    yield call(q, k[draw.permutation(4)])


@most_similar.criterion("arguments stay as they were", points=0.5)
def _(draw):
    yield call(*clear_winners(draw, queries=4, keys=5, width=3)).unchanged()


BEST = "finds the direction that fits best"


@most_similar.mistake(
    "You take the largest *dot product*, and there a long key wins whatever its direction. Divide "
    "the lengths of the keys out (the query's own changes none of its comparisons).",
    shows=(BEST, "batches"),
    see="4. One question, six words",
)
def takes_the_largest_dot_product(queries, keys):
    return (queries @ keys.mT).argmax(-1)


@most_similar.mistake(
    "Your result names the best *query* for each key. Look along the last dimension: for each "
    "query, the best key.",
    shows=(BEST, "batches"),
)
def finds_queries_for_keys(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-2)


@most_similar.mistake(
    "You find the key that is *least* alike: the largest cosine is wanted, not the smallest.",
    shows=(BEST, "batches"),
)
def finds_the_least_similar(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmin(-1)


@most_similar.mistake(
    "A key that points the opposite way counts as a match for you: the sign of the cosine is lost.",
    shows=(BEST, "batches"),
)
def ignores_the_sign(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).abs().argmax(-1)


@most_similar.mistake(
    "You find the key that lies *nearest*. Distance depends on lengths as well; asked for is the "
    "best direction.",
    shows=(BEST, "batches"),
)
def takes_the_nearest(queries, keys):
    return (queries[..., :, None, :] - keys[..., None, :, :]).square().sum(-1).argmin(-1)


@most_similar.mistake(
    "You return the winners' cosines. Asked for are their places: which key, not how alike.",
    shows=(BEST, "batches"),
)
def returns_the_cosines(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).amax(-1)


@most_similar.mistake(
    "`argmax()` without a dimension looks at the whole tensor and gives one place for all queries "
    "together: name the dimension.",
    shows=(BEST, "batches"),
)
def finds_one_place_for_all(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax()


@most_similar.mistake(
    "You return the winning keys themselves, not their places.", shows=(BEST, "batches")
)
def returns_the_keys(queries, keys):
    places = (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1)
    return torch.take_along_dim(keys, places[..., None], dim=-2)


@most_similar.mistake(
    "The places are right, but int64 is asked for (`torch.long`), the dtype that `argmax` gives "
    "and that indexing needs.",
    shows=(BEST, "batches"),
)
def answers_in_int32(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1).int()


@most_similar.mistake(
    "The places are right, but they come as floating-point numbers: int64 is asked for, and a "
    "float cannot index.",
    shows=(BEST, "batches"),
)
def answers_in_floats(queries, keys):
    return (
        (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1).to(queries.dtype)
    )


@most_similar.mistake(
    "`squeeze()` removes every dimension of size 1, also that of a single query or of a batch of "
    "one.",
    shows=(BEST, "batches"),
)
def squeezes_the_places(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).argmax(-1).squeeze()


@most_similar.mistake(
    "Your result keeps the last dimension, with size 1: leave `keepdim` away, so that `(..., T)` "
    "remains.",
    shows=(BEST, "batches"),
)
def keeps_the_last_dimension_of_places(queries, keys):
    scores = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return scores.argmax(-1, keepdim=True)


@most_similar.mistake(
    "It works for one matrix of queries and one of keys, and not for batches: swap only the last "
    "two dimensions, and count dimensions from the end.",
    shows="batches",
    see="5. All pairs at once",
)
def knows_no_batches(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).t()).argmax(-1)


@most_similar.mistake(
    "A key of zeros gives NaN, and `argmax` takes NaN for the largest number there is, so that "
    "such a key always wins. Its similarity is 0.",
    shows="vectors of zeros",
    see="A vector of zeros has no direction",
)
def lets_nan_win(queries, keys):
    cosines = (
        queries @ keys.mT / (queries.norm(dim=-1).unsqueeze(-1) * keys.norm(dim=-1).unsqueeze(-2))
    )
    return cosines.argmax(-1)


@most_similar.mistake(
    "A key of zeros can never win for you. Its similarity is 0, which is more than the −0.5 of a "
    "key that points away.",
    shows="vectors of zeros",
)
def never_finds_a_key_of_zeros(queries, keys):
    cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return cosines.masked_fill((keys == 0).all(-1).unsqueeze(-2), -2.0).argmax(-1)


@most_similar.mistake(
    "Where all cosines are below zero you answer 0, whatever they are: the best has to start "
    "below −1, not at 0.",
    shows="vectors of zeros",
)
def counts_positive_cosines_only(queries, keys):
    return (F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT).clamp(min=0).argmax(-1)


@most_similar.mistake(
    "You take the nearest of the vectors of length 1. For those, nearest and most alike are the "
    "same, but a key of zeros stays at zero, at distance 1 from everything, as if it had the "
    "cosine 0.5.",
    shows="vectors of zeros",
)
def takes_the_nearest_unit_vector(queries, keys):
    units, targets = F.normalize(queries, dim=-1), F.normalize(keys, dim=-1)
    return (units[..., :, None, :] - targets[..., None, :, :]).square().sum(-1).argmin(-1)


@most_similar.mistake(
    "Of equal keys you take the last one. The lowest index should win.",
    shows="the first of equal keys",
)
def takes_the_last_of_equal_keys(queries, keys):
    cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return keys.shape[-2] - 1 - cosines.flip(-1).argmax(-1)


@most_similar.mistake(
    "The small constant in your denominator makes the cosines of short vectors too small, and a "
    "worse key wins. Treat exactly zero on its own instead.",
    shows="short and long vectors",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
def bends_short_vectors(queries, keys):
    lengths = queries.norm(dim=-1).unsqueeze(-1) * keys.norm(dim=-1).unsqueeze(-2)
    return (queries @ keys.mT / (lengths + 1e-8)).argmax(-1)


@most_similar.mistake(
    "Your function normalises its arguments in place (`keys /= …`): the caller's vectors are "
    "changed. Make new tensors.",
    shows="arguments stay as they were",
)
def normalises_the_keys_in_place(queries, keys):
    lengths = keys.norm(dim=-1, keepdim=True)
    keys /= torch.where(lengths == 0, 1, lengths)
    return (queries @ keys.mT).argmax(-1)


@most_similar.mistake(
    "`F.normalize` divides along dimension 1 unless told otherwise, which is the last one for a "
    "matrix only. With a batch it is the dimension of the queries: say `dim=-1`.",
    shows="batches",
)
def normalises_along_dimension_1(queries, keys):
    return (F.normalize(queries) @ F.normalize(keys).mT).argmax(-1)


@most_similar.mistake(
    "You take lengths along the wrong dimension: each *vector* has one, along `dim=-1`; you divide "
    "each column of numbers by its own.",
    shows=(BEST, "batches"),
)
def normalises_the_columns(queries, keys):
    return (F.normalize(queries, dim=-2) @ F.normalize(keys, dim=-2).mT).argmax(-1)


@most_similar.mistake(
    "`keys.T` reverses *all* dimensions, the batch included. Swap only the last two.",
    shows="batches",
    see="5. All pairs at once",
)
def turns_the_batch_over_too(queries, keys):
    units = F.normalize(keys, dim=-1)
    scores = F.normalize(queries, dim=-1) @ units.permute(*reversed(range(keys.ndim)))
    return scores.argmax(-1)


@most_similar.mistake(
    "You round the cosines (or compute them in half precision), so that keys which differ become "
    "equal. Compare what the dtype gives.",
    shows=BEST,
)
def rounds_the_cosines(queries, keys):
    units = F.normalize(queries, dim=-1).bfloat16(), F.normalize(keys, dim=-1).bfloat16()
    return (units[0] @ units[1].mT).argmax(-1)


@most_similar.mistake(
    "You sort the cosines and take the first. A sort need not keep equal ones in their order: any of them may come "
    "first. Say `stable=True`, or use `argmax`.",
    shows="the first of equal keys",
)
def sorts_as_it_comes(queries, keys):
    cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return cosines.argsort(dim=-1, descending=True)[..., 0]


@most_similar.mistake(
    "You take the first of `topk`, which promises no order among equal cosines. `argmax` gives the lowest index.",
    shows="the first of equal keys",
)
def takes_the_top_one(queries, keys):
    cosines = F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT
    return cosines.topk(1, dim=-1).indices[..., 0]


@most_similar.mistake(
    "PyTorch's cosine works along dimension 1 unless told otherwise, and that is no vector here. Say `dim=-1`.",
    shows=(BEST, "batches"),
)
def compares_along_dimension_1(queries, keys):
    return F.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=1).argmax(-1)


@most_similar.mistake(
    "You compare the first query with the first key, the second with the second. Each query meets *every* key: make "
    "the queries `(..., T, 1, K)` and the keys `(..., 1, S, K)`.",
    shows=(BEST, "batches"),
)
def pairs_queries_and_keys_off(queries, keys):
    return F.cosine_similarity(queries, keys, dim=-1).argmax(-1)


@most_similar.alternative
def by_matrix_product_of_units(queries, keys):
    return torch.argmax(
        F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(-1, -2), dim=-1
    )


@most_similar.alternative
def by_the_built_in(queries, keys):
    return (
        torch.cosine_similarity(queries.unsqueeze(-2), keys.unsqueeze(-3), dim=-1)
        .max(dim=-1)
        .indices
    )


@most_similar.alternative
def key_by_key(queries, keys):
    best = queries.new_full(queries.shape[:-1], -2.0)
    place = torch.zeros(queries.shape[:-1], dtype=torch.long)
    lengths = queries.norm(dim=-1)
    for s in range(keys.shape[-2]):
        key = keys[..., s, :].unsqueeze(-2)
        product = lengths * key.norm(dim=-1)
        cosine = (queries * key).sum(-1) / product.where(product > 0, torch.ones_like(product))
        better = cosine > best
        best, place = torch.where(better, cosine, best), torch.where(better, s, place)
    return place


@most_similar.alternative
def in_plain_python(queries, keys):
    def cosine(x, y):
        lengths = math.hypot(*x) * math.hypot(*y)
        return math.fsum(p * q for p, q in zip(x, y, strict=True)) / lengths if lengths else 0.0

    def best(query, candidates):
        scores = [cosine(query, key) for key in candidates]
        return scores.index(max(scores))

    q = queries.reshape(-1, *queries.shape[-2:]).tolist()
    k = keys.reshape(-1, *keys.shape[-2:]).tolist()
    found = [
        [best(query, candidates) for query in asking]
        for asking, candidates in zip(q, k, strict=True)
    ]
    return torch.tensor(found, dtype=torch.int64).reshape(queries.shape[:-1])


@most_similar.alternative
def by_a_stable_sort(queries, keys):
    lengths = keys.norm(dim=-1)
    cosines = torch.einsum("...tk,...sk->...ts", queries, keys)
    cosines = cosines / lengths.masked_fill(lengths == 0, 1)[..., None, :]
    return cosines.sort(dim=-1, descending=True, stable=True).indices[..., 0]
