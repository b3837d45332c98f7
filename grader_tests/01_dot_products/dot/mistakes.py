"""Known mistakes in `dot`."""

from ...shared.families import arguments, gradients, numbers, results
from ...shared.repeating import keeps_its_last_result
from ..common import remembers_tensors
from .contract import dot

right = dot.reference_answer("""
def dot(a, b):
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
+ for x, y in zip(a, b):
+     total = total + x * y
+     return total
""").feedback(
    "Only the first entry counts in your result. Is the `return` inside the loop? There it ends the function in the "
    "first round."
)
right.mistake("skips_the_last_place", {"a * b": "a[:-1] * b[:-1]"}, loses="multiplies").feedback(
    "You leave out the last entry. `range(D - 1)` ends one too early; `range(D)` counts from 0 to D − 1."
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
right.mistake(arguments.argument_changed(what="`a`"), {"return (a * b)": "a *= b\n    return a"}, loses="arguments")
right.mistake("overwrites_the_total", {"(a * b).sum()": "a[-1] * b[-1]"}, loses="multiplies").feedback(
    "You overwrite the total in every round, so only the last entry counts. Add to it: `total = total + …`."
)
right.mistake("skips_the_first_place", {"a * b": "a[1:] * b[1:]"}, loses="multiplies").feedback(
    "You leave out the first entry. Positions are counted from 0, so a loop over `range(1, D)` starts one too late."
)
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(results.nothing_returned, loses=("multiplies", "gradients")).patch("""
- return (a * b).sum()
+ total = (a * b).sum()
""")
right.mistake(
    gradients.cut("cuts_off_the_second_vector", what="one of the two vectors"), loses="gradients", clause="gradients"
).patch("""
- return (a * b).sum()
+ return (a * b.detach()).sum()
""")
right.mistake("multiplies_the_lengths", {"(a * b).sum()": "a.norm() * b.norm()"}, loses="multiplies").feedback(
    "You multiply the two lengths. That is the largest possible dot product; it ignores the directions."
)

keeps_its_last_result(right, loses="multiplies")
right.mistake("starts_from_one", {"(a * b).sum()": "1 + (a * b).sum()"}, loses="multiplies").feedback(
    "You start the total at 1, so your result is too large by 1. A sum starts at 0."
)
right.mistake("subtracts_squared_lengths", loses="multiplies").patch("""
- return (a * b).sum()
+ return ((a + b).square().sum() - a.square().sum() - b.square().sum()) / 2
""").feedback(
    "You compute the dot product from squared lengths, which loses digits if one vector is much longer. Rounding "
    "leaves nothing of the shorter vector in `a + b`. Multiply entry by entry instead."
)
remembers_tensors(right, loses="multiplies")
