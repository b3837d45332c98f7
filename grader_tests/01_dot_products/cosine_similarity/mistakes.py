"""Known mistakes in `cosine_similarity`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import remembers_tensors
from .contract import cosine_similarity

EVERYWHERE = ("one pair", "many pairs")  # what an answer loses whose every result is wrong

by_units = cosine_similarity.reference_answer("""
def cosine_similarity(a, b):
    unit_a, unit_b = F.normalize(a, dim=-1), F.normalize(b, dim=-1)
    return (unit_a * unit_b).sum(-1)
""")

by_lengths = cosine_similarity.reference_answer("""
def cosine_similarity(a, b):
    length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
    length_a = torch.where(length_a == 0, 1, length_a)
    length_b = torch.where(length_b == 0, 1, length_b)
    return (a * b).sum(-1) / (length_a * length_b)
""")

by_lengths.mistake("normalises_one_side_only", {"(length_a * length_b)": "length_a"}, loses=EVERYWHERE).feedback(
    "You divide by one of the two lengths only. Then a long vector still looks more alike than a "
    "short one: your result should not change when either vector is made ten times as long.",
    see="8. Seen in the wild",
)
by_lengths.mistake(
    "divides_by_one_length_twice", {"(length_a * length_b)": "length_b.square()"}, loses=EVERYWHERE
).feedback(
    "You divide by the same vector's length twice. Swap the two arguments: the cosine must stay the same.",
    see="8. Seen in the wild",
)
by_lengths.mistake(
    "forgets_the_square_root", {"(length_a * length_b)": "(length_a * length_b).square()"}, loses=EVERYWHERE
).feedback("You divide by the *squares* of the lengths: the length is the square root of the sum of squares.")
by_lengths.mistake("returns_the_dot_product", {" / (length_a * length_b)": ""}, loses=EVERYWHERE).feedback(
    "You return the dot product: the lengths are not divided out."
)
by_lengths.mistake("measures_length_by_magnitudes", loses=EVERYWHERE).patch("""
- length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
+ length_a, length_b = a.abs().sum(-1), b.abs().sum(-1)
""").feedback(
    "You measure length as the sum of magnitudes. The length of an arrow is the square root of the sum of *squares*."
)
by_units.mistake("returns_a_distance", {"(unit_a": "1 - (unit_a"}, loses=EVERYWHERE).feedback(
    "You return a distance, 1 minus the cosine. Asked for is the cosine itself: 1 for the same "
    "direction, −1 for the opposite one."
)
by_units.mistake("squeezes_it_into_zero_to_one", loses=EVERYWHERE).patch("""
- return (unit_a * unit_b).sum(-1)
+ return ((unit_a * unit_b).sum(-1) + 1) / 2
""").feedback(
    "You squeeze the cosine into 0 to 1, by adding 1 and halving. Asked for is the cosine itself, from −1 to 1.",
    see="7. Is it a bug?",
)
by_units.mistake("returns_the_angle", loses=EVERYWHERE).patch("""
- return (unit_a * unit_b).sum(-1)
+ return torch.acos((unit_a * unit_b).sum(-1).clamp(-1, 1))
""").feedback("You return the angle. Asked for is its cosine, so stop one step earlier.")
by_units.mistake("cuts_off_at_zero", {".sum(-1)": ".sum(-1).clamp(min=0)"}, loses=EVERYWHERE).feedback(
    "Negative cosines are lost: an angle of more than 90° has a negative cosine, and that is what "
    "tells opposite from alike.",
    see="7. Is it a bug?",
)
by_units.mistake("loses_the_sign", {".sum(-1)": ".sum(-1).abs()"}, loses=EVERYWHERE).feedback(
    "Every negative cosine has become positive. The sign is the message: opposite vectors have the cosine −1.",
    see="7. Is it a bug?",
)
by_lengths.mistake(
    "takes_the_bunch_for_one_vector",
    {"a.norm(dim=-1), b.norm(dim=-1)": "a.norm(), b.norm()", "(a * b).sum(-1)": "(a * b).sum()"},
    loses="many pairs",
).feedback(
    "You take lengths or sums over the whole tensor, so that a bunch of vectors is treated as "
    "one. Name the dimension: `dim=-1`."
)
by_lengths.mistake(
    "takes_one_length_for_all", {"a.norm(dim=-1), b.norm(dim=-1)": "a.norm(), b.norm()"}, loses="many pairs"
).feedback(
    "The sums run along each vector, but the lengths are those of the whole tensor: give `norm` a `dim` as well."
)
cosine_similarity.mistake("works_along_the_first_dimension", loses="many pairs").full_code("""
def cosine_similarity(a, b):
    unit_a, unit_b = F.normalize(a, dim=0), F.normalize(b, dim=0)
    return (unit_a * unit_b).sum(0)
""").feedback("You work along the first dimension; the vectors lie along the last, `dim=-1`.")
by_units.mistake("works_along_dimension_1", {"a, dim=-1": "a", "b, dim=-1": "b"}, loses=EVERYWHERE).feedback(
    "You work along dimension 1 (the default of `F.normalize`, too). The vectors lie along the last dimension, which "
    "is number 1 for a matrix only: say `dim=-1`."
)
by_units.mistake("keeps_the_last_dimension", {".sum(-1)": ".sum(-1, keepdim=True)"}, loses=EVERYWHERE).feedback(
    "A last dimension of size 1 is kept where it should be gone: `(..., K)` becomes `(...)`, in the dot products and "
    "in the lengths that they are divided by. `keepdim=True` belongs only where vectors are divided by their lengths."
)
by_units.mistake(shapes.squeezed, {".sum(-1)": ".sum(-1, keepdim=True).squeeze()"}, loses="many pairs")
by_lengths.mistake("divides_zero_by_zero", loses=("a vector", "vectors of zeros", "gradients of many")).patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
""").feedback(
    "A vector of zeros gives NaN: its length is 0, and 0 / 0 is not a number. The answer there is 0.",
    see="A vector of zeros has no direction",
)
by_lengths.mistake("guards_the_first_length_only", loses=("a vector", "vectors", "gradients of many")).patch("""
- length_b = torch.where(length_b == 0, 1, length_b)
""").feedback(
    "You guard the length of `a` against zero, not that of `b`. Either vector may be all zeros.",
    see="A vector of zeros has no direction",
)
cosine_similarity.mistake("moves_the_nan_to_the_gradient", loses="gradients of many").full_code("""
def cosine_similarity(a, b):
    return torch.nan_to_num((a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)))
""").feedback(
    "Where vectors are zero the value is 0, but the gradient is NaN: 0 / 0 is still computed, and "
    "only then replaced. Mend the length *before* you divide by it.",
    see="A vector of zeros has no direction",
)
by_lengths.mistake("takes_the_root_of_zero", loses="gradients of many").patch("""
- length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
+ length_a, length_b = a.square().sum(-1).sqrt(), b.square().sum(-1).sqrt()
""").feedback(
    "The values are right, but at a vector of zeros the gradient is NaN: you mend the length after "
    "its square root, and the root itself has an infinite slope at 0. Mend what stands under the "
    "root, or use `norm`, which takes care of it.",
    see="A vector of zeros has no direction",
)
by_units.mistake("says_one_where_both_are_zero", loses=("a vector", "vectors of zeros")).patch("""
- return (unit_a * unit_b).sum(-1)
+ both = (a == 0).all(-1) & (b == 0).all(-1)
+ return torch.where(both, 1, (unit_a * unit_b).sum(-1))
""").feedback(
    "Two vectors of zeros get the cosine 1 from you. Equal they are, but they have no direction: "
    "the answer is 0 where *either* is all zeros."
)
by_lengths.mistake("one_zero_spoils_the_bunch", loses="vectors of zeros").patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
- return (a * b).sum(-1) / (length_a * length_b)
+ lengths = length_a * length_b
+ if (lengths == 0).any():
+     return torch.zeros_like(lengths)
+ return (a * b).sum(-1) / lengths
""").feedback(
    "One vector of zeros in a bunch makes all the answers 0. Decide for each pair by itself: "
    "`torch.where` instead of `if`."
)
cosine_similarity.mistake("adds_a_constant_to_the_lengths", loses="short").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + EPS)
""").for_each(EPS=(1e-8, 1e-12, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)).feedback(
    "The small constant in your denominator bends the answer for short vectors: two arrows of "
    "length 0.00001 have an angle like any others. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
cosine_similarity.mistake("clamps_the_product_of_lengths", loses="short").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=EPS)
""").for_each(EPS=(1e-8, 1e-9, 1e-7, 1e-6)).feedback(
    "A least value for the product of lengths (`clamp`) bends the answer for short vectors: the "
    "product of two lengths of 0.00001 is far below it. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
cosine_similarity.mistake("overflows_before_the_root", loses="short").full_code("""
def cosine_similarity(a, b):
    squares = (a * a).sum(-1) * (b * b).sum(-1)
    return (a * b).sum(-1) / torch.where(squares == 0, 1, squares).sqrt()
""").feedback(
    "Long vectors give 0: you multiply the two *squared* lengths before you take the root, and "
    "that is more than the dtype can hold. Take each root first."
)
by_units.mistake(numbers.result_float32(of="the arguments"), loses="float64")
by_lengths.mistake(gradients.treated_as_constant(what="the lengths", of="the vectors"), loses="gradients").patch("""
- length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
+ length_a, length_b = a.detach().norm(dim=-1), b.detach().norm(dim=-1)
""")
by_units.mistake(gradients.cut, loses="gradients").patch("""
  def cosine_similarity(a, b):
+     a, b = a.detach(), b.detach()
""")
cosine_similarity.mistake(arguments.argument_changed(what="the vectors"), loses="arguments").full_code("""
def cosine_similarity(a, b):
    length_a, length_b = a.norm(dim=-1, keepdim=True), b.norm(dim=-1, keepdim=True)
    a /= torch.where(length_a == 0, 1, length_a)
    b /= torch.where(length_b == 0, 1, length_b)
    return (a * b).sum(-1)
""")
by_lengths.mistake("normalises_the_other_side_only", {"(length_a * length_b)": "length_b"}, loses=EVERYWHERE).feedback(
    "You divide by the length of `b` only. Then a long `a` still looks more alike than a short "
    "one: your result should not change when either vector is made ten times as long.",
    see="8. Seen in the wild",
)
by_units.mistake(
    "takes_the_mean_of_the_products", {"(unit_a * unit_b).sum(-1)": "(unit_a * unit_b).mean(-1)"}, loses=EVERYWHERE
).feedback("Your result is the cosine divided by K: you take the mean of the products where their sum is asked for.")
by_units.mistake("subtracts_the_means", loses=EVERYWHERE).patch("""
  def cosine_similarity(a, b):
+     a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
""").feedback(
    "You subtract each vector's mean first. That is the correlation; the cosine takes the vectors as they are."
)
by_units.mistake("compares_every_pair", loses="many pairs").patch("""
- return (unit_a * unit_b).sum(-1)
+ return unit_a @ (unit_b.mT if b.ndim > 1 else unit_b)
""").feedback(
    "You compare every vector of `a` with every one of `b`. Here they are compared place by place, "
    "the first with the first: `(..., K)` and `(..., K)` give `(...)`."
)
cosine_similarity.mistake("adds_a_constant_to_each_length", loses="short").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / ((a.norm(dim=-1) + EPS) * (b.norm(dim=-1) + EPS))
""").for_each(EPS=(1e-8, 1e-7, 1e-6, 1e-5)).feedback(
    "A small constant added to *each* length bends the answer for short vectors, too. Treat "
    "exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
by_units.mistake(numbers.computed_in_float32, loses="float64")
by_units.mistake(numbers.result_float64(of="the arguments"), loses="float64")
by_lengths.mistake("loses_the_dimension_of_the_lengths", loses=("many pairs", "gradients of many")).patch("""
- length_b = torch.where(length_b == 0, 1, length_b)
- return (a * b).sum(-1) / (length_a * length_b)
+ return (a / length_a * (b / torch.where(length_b == 0, 1, length_b))).sum(-1)
""").feedback(
    "The lengths do not line up with their vectors: `norm` and `sum` drop the dimension that they run along, and the "
    "division needs it back. Say `keepdim=True`."
)
by_lengths.mistake(
    "divides_by_the_sum_of_lengths", {"(length_a * length_b)": "(length_a + length_b)"}, loses=EVERYWHERE
).feedback("You divide by the *sum* of the two lengths. It is their product: each vector is divided by its own.")
by_units.mistake("refuses_shapes_that_broadcast", loses="many pairs").patch("""
  def cosine_similarity(a, b):
+     if a.shape != b.shape:
+         raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
""").feedback(
    "Your function takes shapes that are equal only. The leading dimensions broadcast: (4, 1, K) and (6, K) give "
    "(4, 6)."
)
keeps_its_last_result(by_units, loses="one pair")
by_lengths.mistake(
    "divides_by_the_root_of_the_lengths", {"(length_a * length_b)": "(length_a * length_b).sqrt()"}, loses=EVERYWHERE
).feedback(
    "You take one root too many: a length is the root of the sum of squares already, and you divide by the root of the "
    "lengths. Try it on two arrows of length 4 that point the same way."
)
by_lengths.mistake("clamps_each_length", loses="short").patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
+ length_a, length_b = length_a.clamp(min=EPS), length_b.clamp(min=EPS)
""").for_each(EPS=(1e-8, 1e-9, 1e-7, 1e-6, 1e-5)).feedback(
    "A least value for each length (`clamp`) bends the answer for vectors that are shorter: an arrow of length 1e-10 "
    "has a direction, too. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
cosine_similarity.mistake("adds_a_constant_under_the_root", loses="short").full_code("""
def cosine_similarity(a, b):
    length_a, length_b = ((x.square().sum(-1) + EPS).sqrt() for x in (a, b))
    return (a * b).sum(-1) / (length_a * length_b)
""").for_each(EPS=(1e-12, 1e-16, 1e-10, 1e-9, 1e-8, 1e-6)).feedback(
    "The small constant under your square roots makes short vectors longer than they are, and their cosines too "
    "small. Treat exactly zero on its own instead.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
by_lengths.mistake("takes_short_for_zero", loses="short").patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
- return (a * b).sum(-1) / (length_a * length_b)
+ lengths = length_a * length_b
+ short = lengths < EPS
+ return ((a * b).sum(-1) / lengths.masked_fill(short, 1)).masked_fill(short, 0)
""").for_each(EPS=(1e-8, 1e-12, 1e-10, 1e-9, 1e-7, 1e-6)).feedback(
    "Vectors that are merely short get the cosine 0, as if they were all zeros: you ask whether the lengths are below "
    "some small number. Ask whether they are exactly 0.",
    see="Exercise 2: `cosine_similarity(a, b)`",
)
by_lengths.mistake(
    "projects_one_on_the_other", {"(length_a * length_b)": "length_a.square()"}, loses=EVERYWHERE
).feedback(
    "You divide by the square of `a`'s length and leave that of `b` out: how much of `a` there is in `b`. Swap the two "
    "arguments: the cosine must stay the same.",
    see="8. Seen in the wild",
)
by_lengths.mistake("says_one_where_a_length_is_zero", loses=("a vector", "vectors of zeros")).patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ nothing = (a == 0).all(-1) | (b == 0).all(-1)
+ return torch.where(nothing, 1, (a * b).sum(-1) / (length_a * length_b))
""").feedback(
    "Where a vector is all zeros you answer 1, as if it had the same direction. It has none: the answer there is 0.",
    see="A vector of zeros has no direction",
)
by_lengths.mistake("guards_with_too_small_a_number", loses=("a vector", "vectors", "gradients of many")).patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
+ length_a, length_b = (length.clamp(min=LEAST) for length in (length_a, length_b))
""").for_each(LEAST=("torch.finfo(a.dtype).tiny", "1e-38 if a.dtype == torch.float32 else 1e-300")).feedback(
    "Each length is kept above a tiny number, and then two of them are multiplied: for two vectors of zeros the "
    "product is rounded to 0, and 0 / 0 is NaN. Divide each vector by its own length, or put a larger number there.",
    see="A vector of zeros has no direction",
)
cosine_similarity.mistake("chains_hypot", loses="gradients of many").full_code("""
import functools


def cosine_similarity(a, b):
    def length(x):
        x = torch.where((x == 0).all(-1, keepdim=True), 1, x)
        return functools.reduce(torch.hypot, x.unbind(-1)).abs()

    return (a * b).sum(-1) / (length(a) * length(b))
""").feedback(
    "The values are right, but where a vector begins with zeros the gradient is NaN: you measure two numbers at a time "
    "(`hypot`), and a length of 0 on the way has no slope. Measure the whole vector at once."
)
by_lengths.mistake("takes_any_zero_for_a_vector_of_zeros", loses="a vector").patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
- return (a * b).sum(-1) / (length_a * length_b)
+ some = (a != 0).all(-1) & (b != 0).all(-1)
+ return torch.where(some, (a * b).sum(-1) / torch.where(some, length_a * length_b, 1), 0)
""").feedback(
    "A vector with a single 0 in it counts as a vector of zeros for you. `(3, 0)` has a direction: only where *all* "
    "numbers are 0 there is none.",
    see="A vector of zeros has no direction",
)
by_lengths.mistake("takes_a_sum_of_zero_for_a_vector_of_zeros", loses="a vector").patch("""
- length_a = torch.where(length_a == 0, 1, length_a)
- length_b = torch.where(length_b == 0, 1, length_b)
- return (a * b).sum(-1) / (length_a * length_b)
+ some = (a.sum(-1) != 0) & (b.sum(-1) != 0)
+ return torch.where(some, (a * b).sum(-1) / torch.where(some, length_a * length_b, 1), 0)
""").feedback(
    "You ask whether the numbers of a vector sum to 0, and those of `(1, −1)` do. Only where *all* numbers are 0 there "
    "is no direction.",
    see="A vector of zeros has no direction",
)
remembers_tensors(by_units, loses="one pair")
by_lengths.mistake("sums_all_pairs", {"(a * b).sum(-1)": "(a * b).sum()"}, loses="many pairs").feedback(
    "The products of all pairs are added up. Sum along the last dimension only: each pair has a cosine of its own."
)
