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
    "You return the products of the entries without adding them up. A dot product is *one* number."
)
right.mistake("takes_the_mean", {".sum(": ".mean("}, loses="multiplies").feedback(
    "You take the mean of the products instead of their sum, so your result is divided by the number of entries."
)
right.mistake("adds_instead_of_multiplying", {"a * b": "a + b"}, loses="multiplies").feedback(
    "You add the two vectors entry by entry. The dot product *multiplies* entry by entry and then adds the products."
)
right.mistake("multiplies_the_sums", {"(a * b).sum()": "a.sum() * b.sum()"}, loses="multiplies").feedback(
    "You multiply every entry of `a` with *every* entry of `b`, so you get the product of the two sums. So does a "
    "vector that became a column. Multiply only entries at the same position."
)
right.mistake("returns_in_the_first_round", loses="multiplies").patch("""
- return (a * b).sum()
+ total = 0
+ for x, y in zip(a, b, strict=True):
+     total = total + x * y
+     return total
""").feedback(
    "Only the first entry counts in your result. Is the `return` inside the loop? There it ends the function in the "
    "first round."
)
right.mistake("skips_the_last_place", {"a * b": "a[:-1] * b[:-1]"}, loses="multiplies").feedback(
    "You leave out the last entry. `range(K - 1)` ends one too early; `range(K)` counts from 0 to K − 1."
)
right.mistake("loses_the_signs", {"a * b": "(a * b).abs()"}, loses="multiplies").feedback(
    "You lose the signs of the products. A position where the signs differ counts *against* the rest."
)
right.mistake("keeps_the_dimension", {".sum()": ".sum(dim=0, keepdim=True)"}, loses="multiplies").feedback(
    "Your result has shape `(1,)`, a list of one number. Return the number itself, of shape `()`."
)
right.mistake("divides_the_lengths_out", {".sum()": ".sum() / (a.norm() * b.norm())"}, loses="multiplies").feedback(
    "You divide by the lengths, which makes the result a cosine. The dot product keeps the lengths."
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
    "You do not check the arguments, and `zip` silently stops where the shorter one ends. Compare the shapes first, "
    "and raise a ValueError if they differ.",
    see="Predict: a row times a column",
)
right.mistake(
    arguments.not_refused(
        "You accept shapes that do not fit, and PyTorch broadcasts them. With `(3,)` and `(3, 1)` the result is a "
        "meaningless number. Raise a ValueError before you multiply."
    )(see="Predict: a row times a column"),
    loses=REFUSALS,
)
right.mistake(
    "compares_lengths_only", {"a.ndim != 1 or b.shape != a.shape": "len(a) != len(b)"}, loses=REFUSALS
).feedback(
    "You compare lengths or numbers of elements instead of shapes. `(3,)` and `(3, 1)` have equal lengths. Compare "
    "`shape`, and check `ndim`.",
    see="Predict: a row times a column",
)
right.mistake(
    arguments.unchecked("lets_two_matrices_pass"), {"ndim != 1 or b.shape != a": "shape != b"}, loses="refuses what"
).feedback(
    "You accept two matrices of *equal* shape, but `dot` takes one-dimensional tensors only. You refuse different "
    "shapes, as you should."
)
right.mistake(
    arguments.unchecked("lets_different_lengths_pass"), {"b.shape != a.shape": "b.ndim != 1"}, loses="refuses shapes"
).feedback(
    "You accept two vectors of different lengths. PyTorch then broadcasts one of them or stops with its own error. "
    "Compare the two shapes too."
)
right.mistake(arguments.error_without_name(), loses=REFUSALS)
right.mistake(arguments.asserts(), loses=REFUSALS)
right.mistake(arguments.argument_changed(what="`a`"), {"return (a * b)": "a *= b\n    return a"}, loses="arguments")
right.mistake("overwrites_the_total", {"(a * b).sum()": "a[-1] * b[-1]"}, loses="multiplies").feedback(
    "You overwrite the total in every round, so only the last entry counts. Add to it: `total = total + …`."
)
right.mistake("skips_the_first_place", {"a * b": "a[1:] * b[1:]"}, loses="multiplies").feedback(
    "You leave out the first entry. Positions are counted from 0, so a loop over `range(1, K)` starts one too late."
)
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(arguments.wrong_error("TypeError"), loses=REFUSALS)
right.mistake(arguments.wrong_error("RuntimeError"), loses=REFUSALS)
right.mistake(arguments.unchecked("returns_none_for_wrong_shapes"), loses=REFUSALS).patch("""
- raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
+ return None
""").feedback("You return `None` for wrong shapes instead of raising an error. The caller then fails elsewhere.")
right.mistake(results.nothing_returned, loses=("multiplies", "gradients")).patch("""
- return (a * b).sum()
""")
right.mistake(gradients.cut("cuts_off_the_second_vector", what="one of the two vectors"), loses="gradients").patch("""
- return (a * b).sum()
+ return (a * b.detach()).sum()
""")
right.mistake("multiplies_the_lengths", {"(a * b).sum()": "a.norm() * b.norm()"}, loses="multiplies").feedback(
    "You multiply the two lengths. That is the largest possible dot product; it ignores the directions."
)
right.mistake(arguments.unchecked("stops_with_the_shorter"), loses="refuses shapes").patch("""
- if a.ndim != 1 or b.shape != a.shape:
+ if a.ndim != 1 or b.ndim != 1:
@@
- return (a * b).sum()
+ length = min(len(a), len(b))
+ return (a[:length] * b[:length]).sum()
""").feedback(
    "You accept vectors of different lengths and cut the longer one. Raise a ValueError before you multiply. (`zip` "
    "stops silently, too.)"
)

right.mistake(
    "looks_at_the_first_sizes_only", {"a.ndim": "b.ndim", "b.shape != a": "a.shape[:1] != b"}, loses="refuses shapes"
).feedback(
    "You compare only the first sizes of the two shapes. A matrix with as many rows as the vector has entries passes. "
    "Check `ndim` of both arguments."
)
keeps_its_last_result(right, loses="multiplies")
right.mistake("starts_from_one", {"(a * b).sum()": "1 + (a * b).sum()"}, loses="multiplies").feedback(
    "You start the total at 1, so your result is too large by 1. A sum starts at 0."
)
right.mistake(arguments.unchecked("lets_two_numbers_pass"), {"ndim != 1": "ndim > 1"}, loses="refuses what").feedback(
    "You accept two tensors with *no* dimension. You refuse matrices, as you should. Require exactly one "
    "dimension, not at most one."
)
right.mistake(
    "flattens_what_it_gets",
    {"ndim != 1 or b.shape != a.shape": "numel() != b.numel()", "return (a * b)": "return (a.flatten() * b.flatten())"},
    loses=REFUSALS,
).feedback(
    "You flatten the arguments and compare their numbers of elements. So matrices pass, and `(6,)` fits `(2, 3)`. "
    "Check the shapes as you receive them.",
    see="Predict: a row times a column",
)
right.mistake(
    arguments.unchecked("returns_the_error"), {"raise ValueError": "return ValueError"}, loses=REFUSALS
).feedback("You return the ValueError instead of raising it, so nothing stops. An error has to be raised.")
right.mistake("subtracts_squared_lengths", loses="multiplies").patch("""
- return (a * b).sum()
+ return ((a + b).square().sum() - a.square().sum() - b.square().sum()) / 2
""").feedback(
    "You compute the dot product from squared lengths, which loses digits if one vector is much longer. Rounding "
    "leaves nothing of the shorter vector in `a + b`. Multiply entry by entry instead."
)
remembers_tensors(right, loses="multiplies")
