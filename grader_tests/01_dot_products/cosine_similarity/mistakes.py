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
    return (a * b).sum(-1) / (length_a * length_b)
""")

by_lengths.mistake("normalises_one_side_only", {"(length_a * length_b)": "length_a"}, loses=EVERYWHERE).feedback(
    "You divide by only one of the two lengths. A vector ten times as long should give the same result.",
    see="8. A bug that shipped (extra)",
)
by_lengths.mistake(
    "divides_by_one_length_twice", {"(length_a * length_b)": "length_b.square()"}, loses=EVERYWHERE
).feedback(
    "You divide by the length of the same vector twice. Swap the two arguments: the cosine must stay the same.",
    see="8. A bug that shipped (extra)",
)
by_lengths.mistake(
    "forgets_the_square_root", {"(length_a * length_b)": "(length_a * length_b).square()"}, loses=EVERYWHERE
).feedback("You divide by the *squares* of the lengths. A length is the square root of the sum of squares.")
by_lengths.mistake("returns_the_dot_product", {" / (length_a * length_b)": ""}, loses=EVERYWHERE).feedback(
    "You return the dot product without dividing by the lengths."
)
by_lengths.mistake("measures_length_by_magnitudes", loses=EVERYWHERE).patch("""
- length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
+ length_a, length_b = a.abs().sum(-1), b.abs().sum(-1)
""").feedback(
    "You measure length as the sum of absolute values. The length of an arrow is the square root of the sum of "
    "*squares*."
)
by_units.mistake("returns_a_distance", {"(unit_a": "1 - (unit_a"}, loses=EVERYWHERE).feedback(
    "You return a distance, 1 minus the cosine. Return the cosine itself: 1 for the same direction, −1 for the "
    "opposite one."
)
by_units.mistake("squeezes_it_into_zero_to_one", loses=EVERYWHERE).patch("""
- return (unit_a * unit_b).sum(-1)
+ return ((unit_a * unit_b).sum(-1) + 1) / 2
""").feedback(
    "You map the cosine to the range 0 to 1 by adding 1 and halving. Return the cosine itself, from −1 to 1.",
)
by_units.mistake("returns_the_angle", loses=EVERYWHERE).patch("""
- return (unit_a * unit_b).sum(-1)
+ return torch.acos((unit_a * unit_b).sum(-1).clamp(-1, 1))
""").feedback("You return the angle. Return its cosine, so stop one step earlier.")
by_units.mistake("cuts_off_at_zero", {".sum(-1)": ".sum(-1).clamp(min=0)"}, loses=EVERYWHERE).feedback(
    "You cut negative cosines off at 0. An angle of more than 90° has a negative cosine.",
)
by_units.mistake("loses_the_sign", {".sum(-1)": ".sum(-1).abs()"}, loses=EVERYWHERE).feedback(
    "You turn negative cosines into positive ones. The sign matters: opposite vectors have the cosine −1.",
)
by_lengths.mistake(
    "takes_the_bunch_for_one_vector",
    {"a.norm(dim=-1), b.norm(dim=-1)": "a.norm(), b.norm()", "(a * b).sum(-1)": "(a * b).sum()"},
    loses="many pairs",
).feedback(
    "You take lengths or sums over the whole tensor, so you treat a batch of vectors as one vector. Name the "
    "dimension: `dim=-1`."
)
by_lengths.mistake(
    "takes_one_length_for_all", {"a.norm(dim=-1), b.norm(dim=-1)": "a.norm(), b.norm()"}, loses="many pairs"
).feedback(
    "You take one length over the whole tensor, although your sums run along each vector. Give `norm` a `dim` too."
)
cosine_similarity.mistake("works_along_the_first_dimension", loses="many pairs").full_code("""
def cosine_similarity(a, b):
    unit_a, unit_b = F.normalize(a, dim=0), F.normalize(b, dim=0)
    return (unit_a * unit_b).sum(0)
""").feedback("You work along the first dimension. Each vector runs along the last one, `dim=-1`.")
by_units.mistake("works_along_dimension_1", {"a, dim=-1": "a", "b, dim=-1": "b"}, loses=EVERYWHERE).feedback(
    "You work along dimension 1, which is also the default of `F.normalize`. Each vector runs along the last one. Pass "
    "`dim=-1`."
)
by_units.mistake("keeps_the_last_dimension", {".sum(-1)": ".sum(-1, keepdim=True)"}, loses=EVERYWHERE).feedback(
    "You keep a last dimension of size 1 that should be gone. `(..., D)` becomes `(...)`, both in the dot products and "
    "in the lengths that divide them."
)
by_units.mistake(shapes.squeezed, {".sum(-1)": ".sum(-1, keepdim=True).squeeze()"}, loses="many pairs")
cosine_similarity.mistake("adds_a_constant_to_the_lengths", loses="short").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1) + EPS)
""").for_each(EPS=(1e-8, 1e-12, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)).feedback(
    "You add a small constant to the denominator, which changes the cosine of short vectors. No vector is all zeros "
    "here, so leave the constant out.",
)
cosine_similarity.mistake("clamps_the_product_of_lengths", loses="short", clause="stretched").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)).clamp(min=EPS)
""").for_each(EPS=(1e-8, 1e-9, 1e-7, 1e-6)).feedback(
    "You clamp the product of the lengths to a minimum, which changes the cosine of short vectors. Two lengths of "
    "0.00001 have a product far below it.",
)
cosine_similarity.mistake("overflows_before_the_root", loses="short").full_code("""
def cosine_similarity(a, b):
    squares = (a * a).sum(-1) * (b * b).sum(-1)
    return (a * b).sum(-1) / squares.sqrt()
""").feedback(
    "You multiply the two *squared* lengths before you take the root, so long vectors overflow and give 0. Take "
    "each root first."
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
    a /= length_a
    b /= length_b
    return (a * b).sum(-1)
""")
by_lengths.mistake("normalises_the_other_side_only", {"(length_a * length_b)": "length_b"}, loses=EVERYWHERE).feedback(
    "You divide by the length of `b` only. An `a` ten times as long should give the same result.",
    see="8. A bug that shipped (extra)",
)
by_units.mistake(
    "takes_the_mean_of_the_products", {"(unit_a * unit_b).sum(-1)": "(unit_a * unit_b).mean(-1)"}, loses=EVERYWHERE
).feedback("You take the mean of the products instead of their sum, so your result is the cosine divided by D.")
by_units.mistake("subtracts_the_means", loses=EVERYWHERE).patch("""
  def cosine_similarity(a, b):
+     a, b = a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True)
""").feedback(
    "You subtract the mean of each vector first, which gives the correlation. The cosine uses the vectors unchanged."
)
by_units.mistake("compares_every_pair", loses="many pairs").patch("""
- return (unit_a * unit_b).sum(-1)
+ return unit_a @ (unit_b.mT if b.ndim > 1 else unit_b)
""").feedback(
    "You compare every vector of `a` with every vector of `b`. Compare pair by pair: `(..., D)` and `(..., D)` give "
    "`(...)`."
)
cosine_similarity.mistake("adds_a_constant_to_each_length", loses="short").full_code("""
def cosine_similarity(a, b):
    return (a * b).sum(-1) / ((a.norm(dim=-1) + EPS) * (b.norm(dim=-1) + EPS))
""").for_each(EPS=(1e-8, 1e-7, 1e-6, 1e-5)).feedback(
    "You add a small constant to *each* length, which changes the cosine of short vectors. No vector is all zeros "
    "here, so leave the constant out.",
)
by_units.mistake(numbers.computed_in_float32, loses="float64")
by_units.mistake(numbers.result_float64(of="the arguments"), loses="float64")
by_lengths.mistake("loses_the_dimension_of_the_lengths", loses=("many pairs", "gradients of many")).patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ return (a / length_a * (b / length_b)).sum(-1)
""").feedback(
    "The lengths do not line up with their vectors. `norm` and `sum` drop the dimension that they run along. Keep it "
    "with `keepdim=True`."
)
by_lengths.mistake(
    "divides_by_the_sum_of_lengths", {"(length_a * length_b)": "(length_a + length_b)"}, loses=EVERYWHERE
).feedback(
    "You divide by the *sum* of the two lengths instead of their product. Each vector is divided by its own length."
)
by_units.mistake("refuses_shapes_that_broadcast", loses="many pairs", clause="broadcast").patch("""
  def cosine_similarity(a, b):
+     if a.shape != b.shape:
+         raise ValueError(f"a is {tuple(a.shape)}, b is {tuple(b.shape)}")
""").feedback("You accept only equal shapes. The leading dimensions broadcast: `(4, 1, D)` and `(6, D)` give `(4, 6)`.")
keeps_its_last_result(by_units, loses="one pair")
by_lengths.mistake(
    "divides_by_the_root_of_the_lengths", {"(length_a * length_b)": "(length_a * length_b).sqrt()"}, loses=EVERYWHERE
).feedback(
    "You take one square root too many and divide by the root of the lengths. A length is already a root. Try two "
    "arrows of length 4 that point the same way."
)
by_lengths.mistake("clamps_each_length", loses="short").patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ return (a * b).sum(-1) / (length_a.clamp(min=EPS) * length_b.clamp(min=EPS))
""").for_each(EPS=(1e-8, 1e-9, 1e-7, 1e-6, 1e-5)).feedback(
    "You clamp each length to a minimum, which changes the cosine of shorter vectors. No vector is all zeros here, so "
    "leave the minimum out.",
)
cosine_similarity.mistake("adds_a_constant_under_the_root", loses="short").full_code("""
def cosine_similarity(a, b):
    length_a, length_b = ((x.square().sum(-1) + EPS).sqrt() for x in (a, b))
    return (a * b).sum(-1) / (length_a * length_b)
""").for_each(EPS=(1e-12, 1e-16, 1e-10, 1e-9, 1e-8, 1e-6)).feedback(
    "You add a small constant under the square roots, so the cosines of short vectors are too small. No vector is all "
    "zeros here, so leave the constant out.",
)
by_lengths.mistake("takes_short_for_zero", loses="short").patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ lengths = length_a * length_b
+ short = lengths < EPS
+ return ((a * b).sum(-1) / lengths.masked_fill(short, 1)).masked_fill(short, 0)
""").for_each(EPS=(1e-8, 1e-12, 1e-10, 1e-9, 1e-7, 1e-6)).feedback(
    "You give short vectors the cosine 0, as if they were vectors of zeros. However short it is, a vector has a "
    "direction.",
)
by_lengths.mistake(
    "projects_one_on_the_other", {"(length_a * length_b)": "length_a.square()"}, loses=EVERYWHERE
).feedback(
    "You divide by the squared length of `a` and leave out the length of `b`. Swap the two arguments: the cosine must "
    "stay the same.",
    see="8. A bug that shipped (extra)",
)
cosine_similarity.mistake("chains_hypot", loses="gradients of many").full_code("""
import functools


def cosine_similarity(a, b):
    def length(x):
        return functools.reduce(torch.hypot, x.unbind(-1)).abs()

    return (a * b).sum(-1) / (length(a) * length(b))
""").feedback(
    "You measure two entries at a time (`hypot`), so the gradient is NaN where a vector begins with zeros. An "
    "intermediate length of 0 has no slope. Measure the whole vector at once."
)
by_lengths.mistake("takes_any_zero_for_a_vector_of_zeros", loses="many pairs").patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ some = (a != 0).all(-1) & (b != 0).all(-1)
+ return torch.where(some, (a * b).sum(-1) / torch.where(some, length_a * length_b, 1), 0)
""").feedback(
    "You treat a vector with a single 0 in it as a vector of zeros, and give it the cosine 0. It has a direction, "
    "like all vectors here.",
)
by_lengths.mistake("takes_a_sum_of_zero_for_a_vector_of_zeros", loses="many pairs").patch("""
- return (a * b).sum(-1) / (length_a * length_b)
+ some = (a.sum(-1) != 0) & (b.sum(-1) != 0)
+ return torch.where(some, (a * b).sum(-1) / torch.where(some, length_a * length_b, 1), 0)
""").feedback(
    "You give a vector the cosine 0 if its entries sum to 0. Those of `(1, −1)` do, and it has a direction.",
)
remembers_tensors(by_units, loses="one pair")
by_lengths.mistake("sums_all_pairs", {"(a * b).sum(-1)": "(a * b).sum()"}, loses="many pairs").feedback(
    "You add up the products of all pairs. Sum along the last dimension only: each pair has its own cosine."
)
by_lengths.mistake("multiplies_as_in_lesson_00", loses=EVERYWHERE).patch("""
- length_a, length_b = a.norm(dim=-1), b.norm(dim=-1)
- return (a * b).sum(-1) / (length_a * length_b)
+ return a @ b.permute(*reversed(range(b.ndim)))
""").feedback(
    "Your line of lesson 0 gives the dot products of every vector with every other. Here each pair has one number, "
    "and both lengths divide it."
)
