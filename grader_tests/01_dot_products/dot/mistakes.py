"""Known mistakes in `dot`."""

from ...shared.families import arguments, gradients, numbers, results
from ...shared.repeating import keeps_its_last_result
from ..common import remembers_tensors
from .contract import dot

REFUSALS = ("refuses shapes", "refuses what")  # what an answer loses that refuses nothing

right = dot.reference_answer("""
def dot(a, b):
    if a.ndim != 1 or b.shape != a.shape:
        raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
    return (a * b).sum()
""")

right.mistake("returns_the_products", {"(a * b).sum()": "a * b"}, loses="multiplies").feedback(
    "You return the products, place by place, but not their sum: a dot product is *one* number."
)
right.mistake("takes_the_mean", {".sum(": ".mean("}, loses="multiplies").feedback(
    "Your result is the dot product divided by the number of places: you take the mean of the "
    "products where their sum is asked for."
)
right.mistake("adds_instead_of_multiplying", {"a * b": "a + b"}, loses="multiplies").feedback(
    "You add the numbers place by place; the dot product *multiplies* them, and adds afterwards."
)
right.mistake("multiplies_the_sums", {"(a * b).sum()": "a.sum() * b.sum()"}, loses="multiplies").feedback(
    "Your result is the product of the two sums, in which every number of `a` meets *every* number of `b`, as it does "
    "where one of the two has become a column. Only numbers at the same place are multiplied; then their products are "
    "added."
)
right.mistake("returns_in_the_first_round", loses="multiplies").patch("""
- return (a * b).sum()
+ total = 0
+ for x, y in zip(a, b, strict=True):
+     total = total + x * y
+     return total
""").feedback(
    "Only the first place counts in your result. Does the `return` stand inside the loop, so that "
    "it ends the function in the first round?"
)
right.mistake("skips_the_last_place", {"a * b": "a[:-1] * b[:-1]"}, loses="multiplies").feedback(
    "The last place is missing from your sum: `range(K - 1)` ends one too early, `range(K)` counts from 0 to K − 1."
)
right.mistake("loses_the_signs", {"a * b": "(a * b).abs()"}, loses="multiplies").feedback(
    "The signs are lost in your result: a place where the signs differ counts *against* the rest."
)
right.mistake("keeps_the_dimension", {".sum()": ".sum(dim=0, keepdim=True)"}, loses="multiplies").feedback(
    "Your result has the shape `(1,)`: a list of one number. Asked for is the number itself, of shape `()`."
)
right.mistake("divides_the_lengths_out", {".sum()": ".sum() / (a.norm() * b.norm())"}, loses="multiplies").feedback(
    "You divide the lengths out, which makes the result a cosine. That is the next exercise; the "
    "dot product keeps them."
)
right.mistake(results.python_number, {".sum()": ".sum().item()"}, loses=("float64", "gradients"))
right.mistake(gradients.cut("makes_a_new_tensor"), loses="gradients").patch("""
- return (a * b).sum()
+ return torch.tensor((a * b).sum().item(), dtype=a.dtype)
""")
right.mistake(numbers.always_float32(of="the arguments"), {"a * b": "a.float() * b.float()"}, loses="float64")
right.mistake(numbers.always_float64(of="the arguments"), {"a * b": "a.double() * b.double()"}, loses="float64")
dot.mistake(arguments.unchecked("walks_as_far_as_the_shorter"), loses=REFUSALS).full_code("""
def dot(a, b):
    total = torch.zeros((), dtype=a.dtype, device=a.device)
    for x, y in zip(a, b):
        total = total + x * y
    return total
""").feedback(
    "The arguments are not checked, and `zip` stops without a word where the shorter one ends: the rest of the other "
    "is left out. Compare the shapes first, and raise a ValueError where they differ.",
    see="1. Multiply, then add",
)
right.mistake(
    arguments.not_refused(
        "You do not check the shapes. PyTorch broadcasts `(3,)` with `(3, 1)` and gives a meaningless number, so raise "
        "a ValueError before you multiply."
    )(see="1. Multiply, then add"),
    loses=REFUSALS,
)
right.mistake(
    "compares_lengths_only", {"a.ndim != 1 or b.shape != a.shape": "len(a) != len(b)"}, loses=REFUSALS
).feedback(
    "You compare lengths (or numbers of elements), not shapes: `(3,)` and `(3, 1)` have equal lengths and still do not "
    "fit. Compare `shape`, and look at `ndim`.",
    see="1. Multiply, then add",
)
right.mistake(
    arguments.unchecked("lets_two_matrices_pass"), {"ndim != 1 or b.shape != a": "shape != b"}, loses="refuses what"
).feedback(
    "Shapes that differ are refused, as they should be. But two matrices of *equal* shape pass: `dot` takes "
    "one-dimensional tensors only."
)
right.mistake(
    arguments.unchecked("lets_different_lengths_pass"), {"b.shape != a.shape": "b.ndim != 1"}, loses="refuses shapes"
).feedback(
    "Matrices are refused, as they should be. But two vectors of different lengths pass, and PyTorch either stretches "
    "one of them or stops with an error of its own: compare the two shapes as well."
)
right.mistake(arguments.error_without_name(), loses=REFUSALS)
right.mistake(arguments.asserts(), loses=REFUSALS)
right.mistake(arguments.argument_changed(what="`a`"), {"return (a * b)": "a *= b\n    return a"}, loses="arguments")
right.mistake("overwrites_the_total", {"(a * b).sum()": "a[-1] * b[-1]"}, loses="multiplies").feedback(
    "Only the last place counts in your result: in every round the total is overwritten. Add to "
    "it (`total = total + …`)."
)
right.mistake("skips_the_first_place", {"a * b": "a[1:] * b[1:]"}, loses="multiplies").feedback(
    "The first place is missing from your sum: places are counted from 0, so a loop over "
    "`range(1, K)` starts one too late."
)
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(arguments.wrong_error("TypeError"), loses=REFUSALS)
right.mistake(arguments.wrong_error("RuntimeError"), loses=REFUSALS)
right.mistake(arguments.unchecked("returns_none_for_wrong_shapes"), loses=REFUSALS).patch("""
- raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
+ return None
""").feedback(
    "You notice the wrong shapes and return `None`. Whoever called goes on with it and fails elsewhere: raise a "
    "ValueError."
)
right.mistake(results.nothing_returned, loses=("multiplies", "gradients")).patch("""
- return (a * b).sum()
""")
right.mistake(gradients.cut("cuts_off_the_second_vector", what="one of the two vectors"), loses="gradients").patch("""
- return (a * b).sum()
+ return (a * b.detach()).sum()
""")
right.mistake("multiplies_the_lengths", {"(a * b).sum()": "a.norm() * b.norm()"}, loses="multiplies").feedback(
    "You multiply the two lengths. That is the greatest value that the dot product could have; how well the "
    "directions agree is missing."
)
right.mistake(arguments.unchecked("stops_with_the_shorter"), loses="refuses shapes").patch("""
- if a.ndim != 1 or b.shape != a.shape:
+ if a.ndim != 1 or b.ndim != 1:
@@
- return (a * b).sum()
+ length = min(len(a), len(b))
+ return (a[:length] * b[:length]).sum()
""").feedback(
    "Vectors of different lengths pass, and the longer one is cut: `zip` stops with the shorter. Raise a ValueError "
    "before you multiply."
)

right.mistake(
    "looks_at_the_first_sizes_only", {"a.ndim": "b.ndim", "b.shape != a": "a.shape[:1] != b"}, loses="refuses shapes"
).feedback(
    "You compare the first sizes of the two only, so that a matrix passes which has as many rows as the vector has "
    "numbers. Ask both arguments for their number of dimensions."
)
keeps_its_last_result(right, loses="multiplies")
right.mistake("starts_from_one", {"(a * b).sum()": "1 + (a * b).sum()"}, loses="multiplies").feedback(
    "Your result is too large by 1: the total starts from 1. A sum starts from 0; it is a product that starts from 1."
)
right.mistake(arguments.unchecked("lets_two_numbers_pass"), {"ndim != 1": "ndim > 1"}, loses="refuses what").feedback(
    "Matrices are refused, as they should be. But two tensors of *no* dimension pass: ask for exactly one dimension, "
    "not for one at most."
)
right.mistake(
    "flattens_what_it_gets",
    {"ndim != 1 or b.shape != a.shape": "numel() != b.numel()", "return (a * b)": "return (a.flatten() * b.flatten())"},
    loses=REFUSALS,
).feedback(
    "You count elements and flatten what you are given, so that `(6,)` fits `(2, 3)`, and matrices pass. Ask for the "
    "shapes as they come.",
    see="1. Multiply, then add",
)
right.mistake(
    arguments.unchecked("returns_the_error"), {"raise ValueError": "return ValueError"}, loses=REFUSALS
).feedback("You notice the wrong shapes, make a ValueError and `return` it: nothing stops. An error has to be raised.")
right.mistake("subtracts_squared_lengths", loses="multiplies").patch("""
- return (a * b).sum()
+ return ((a + b).square().sum() - a.square().sum() - b.square().sum()) / 2
""").feedback(
    "On paper your formula is right: it takes the dot product from squared lengths. Where one vector is much longer "
    "than the other, rounding leaves nothing of the shorter one in `a + b`. Multiply place by place instead."
)
remembers_tensors(right, loses="multiplies")
