"""Known mistakes in `masked_softmax`."""

from ...shared.families import arguments, gradients, masks, numbers, scores, shapes
from .contract import masked_softmax

FILLS = (-1e9, -1e4, -1e5, -1e6, -1e10, -1e12, -1e15)

right = masked_softmax.reference_answer("""
def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(filled, -1)
    return weights.masked_fill(mask, 0.0)
""")

right.mistake("masks_after_the_softmax", {'.masked_fill(mask, float("-inf"))': ""}).feedback(
    "You set blocked weights to 0 after the softmax, so the other weights no longer sum to 1. How much is left of "
    "a row depends on the blocked scores. Mask before the softmax.",
)
masked_softmax.mistake("renormalises").full_code("""
def masked_softmax(scores, mask):
    weights = torch.softmax(scores, -1).masked_fill(mask, 0.0)
    return weights / weights.sum(-1, keepdim=True)
""").feedback(
    "Blocked scores still count in your softmax, or in the maximum that you subtract. You divide by what is left, "
    "which can be 0 / 0: if a blocked score is by far the highest, all other weights are already rounded to 0.",
)
masked_softmax.mistake("renormalises_with_care").full_code("""
def masked_softmax(scores, mask):
    weights = torch.softmax(scores, -1).masked_fill(mask, 0.0)
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)
""").feedback(
    "Blocked scores still count in your softmax, or in the maximum that you subtract. You set their weights to 0 "
    "only afterwards, and divide the rest by its sum. If a blocked score is by far the highest, nothing is left to "
    "divide, and the whole row is 0.",
)
right.mistake(
    masks.blocked_by_number(see="2. From a mask to weights"),
    {'float("-inf")': "FILL", "weights.masked_fill(mask, 0.0)": "weights"},
).for_each(FILL=FILLS)
right.mistake("fills_with_minus_1e9_and_zeroes", {'float("-inf")': "FILL"}).for_each(FILL=FILLS).feedback(
    "You set blocked scores to a number such as -1e9, and their weights to 0 afterwards. If the open scores are "
    "lower still, the blocked keys first take the whole weight of 1, and nothing is left.",
    see="2. From a mask to weights",
)
right.mistake("fills_with_next_to_nothing", {'float("-inf")': "FILL"}).for_each(FILL=(-1e-12, 0.0)).feedback(
    "You set blocked scores to 0, or to a number near it such as -1e-12 instead of -1e12. Blocked keys then take "
    "their share of the weight. After you set their weights to 0, the rest sums to less than 1.",
    see="2. From a mask to weights",
)
right.mistake(
    "subtracts_1e9",
    {'scores.masked_fill(mask, float("-inf"))': "scores - MUCH * mask.to(scores)", ".masked_fill(mask, 0.0)": ""},
).for_each(MUCH=(1e9, 1e4, 1e5, 1e6, 1e10, 1e12)).feedback(
    "You subtract a large number from blocked scores, but no finite number is large enough. A blocked score may be "
    "higher than the others by 1e15.",
    see="2. From a mask to weights",
)
right.mistake("subtracts_1e9_and_zeroes").patch("""
- filled = scores.masked_fill(mask, float("-inf"))
+ filled = scores - MUCH * mask.to(scores)
""").for_each(MUCH=(1e9, 1e4, 1e5, 1e6, 1e10, 1e12)).feedback(
    "You subtract a large number from blocked scores, and set their weights to 0 afterwards. A blocked score may "
    "be higher than the others by 1e15. Then it first takes the whole weight of 1, and nothing is left.",
    see="2. From a mask to weights",
)
right.mistake(
    "adds_the_logarithm_of_next_to_nothing",
    {'scores.masked_fill(mask, float("-inf"))': "scores + (~mask + 1e-45).log()", ".masked_fill(mask, 0.0)": ""},
).feedback(
    "You add the logarithm of a tiny number to blocked scores, but log(1e-45) is only -103. A blocked score that "
    "is higher by more than that still gets weight.",
    see="2. From a mask to weights",
)
right.mistake(masks.inverted(see="1. Each word sees only the past")).patch("""
  def masked_softmax(scores, mask):
+     mask = ~mask
""")
right.mistake(
    "multiplies_scores_by_the_mask",
    {'scores.masked_fill(mask, float("-inf"))': "scores * ~mask", "weights.masked_fill(mask, 0.0)": "weights"},
).feedback(
    "You set blocked scores to 0, by multiplying or by filling. A score of 0 counts like any other: e⁰ is 1.",
    see="2. From a mask to weights",
)
right.mistake("multiplies_infinity").patch("""
- filled = scores.masked_fill(mask, float("-inf"))
+ filled = scores + mask.to(scores) * float("-inf")
@@
- return weights.masked_fill(mask, 0.0)
+ return AFTER
""").for_each(AFTER=("weights", "weights.nan_to_num(0.0)")).feedback(
    "You multiply by -inf, which gives NaN wherever the other factor is 0. In `(1 - mask) * -inf` or `mask * "
    "-inf`, 0 · ∞ is not a number. Fill in the value instead of multiplying by it."
)
right.mistake(scores.softmax_over_queries, {"softmax(filled, -1)": "softmax(filled, -2)"})
right.mistake("over_dimension_1", {"softmax(filled, -1)": "softmax(filled, 1)"}).feedback(
    "Your softmax runs over dimension 1, which is the last one only for a matrix. With batch dimensions in front, "
    "the keys are in a later dimension."
)
masked_softmax.mistake("needs_a_mask_of_the_same_shape").full_code("""
def masked_softmax(scores, mask):
    kept = scores.clone()
    kept[mask] = float("-inf")
    weights = torch.softmax(kept, -1)
    return torch.where(mask.all(-1, keepdim=True), torch.zeros_like(weights), weights)
""").feedback(
    "Your function needs a mask of the same shape as the scores. A mask may have fewer dimensions, or dimensions "
    "of size 1. Let it broadcast."
)
masked_softmax.mistake("subtracts_nothing").full_code("""
def masked_softmax(scores, mask):
    parts = scores.masked_fill(mask, float("-inf")).exp()
    return parts / parts.sum(-1, keepdim=True).GUARD
""").for_each(GUARD=("masked_fill(mask.all(-1, keepdim=True), 1.0)", "clamp(min=1e-12)")).feedback(
    "For large scores your e^s overflows to infinity. Subtract the highest open score of each row first."
)
masked_softmax.mistake("subtracts_the_logarithm_of_the_sum").full_code("""
def masked_softmax(scores, mask):
    filled = scores.masked_fill(mask, float("-inf"))
    total = filled.logsumexp(-1, keepdim=True).masked_fill(mask.all(-1, keepdim=True), 0.0)
    return (filled - total).exp()
""").feedback(
    "You compute e^(s - log Σ e^s), which goes wrong for very large scores. On paper this is right. But log Σ e^s "
    "of two scores of 1e15 is 1e15 + log 2, and rounding removes the log 2, so that each gets a weight of 1."
)
masked_softmax.mistake("computes_what_it_throws_away").full_code("""
def masked_softmax(scores, mask):
    empty = mask.all(-1, keepdim=True)
    highest = scores.masked_fill(mask, float("-inf")).amax(-1, keepdim=True).masked_fill(empty, 0.0)
    parts = torch.where(mask, 0.0, (scores - highest.detach()).exp())
    return parts / parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)
""").feedback(
    "You compute e^s for blocked keys too and discard it afterwards, so the gradient can be NaN. Where e^s "
    "overflows, the backward pass multiplies 0 by ∞. Replace a blocked score *before* you use it."
)
masked_softmax.mistake(arguments.argument_changed("fills_in_place", what="the scores")).full_code("""
def masked_softmax(scores, mask):
    filled = FILLED
    filled.masked_fill_(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    return torch.softmax(scores, -1).masked_fill(mask, 0.0)
""").for_each(FILLED=("scores.detach() if scores.is_leaf else scores", "scores"))
right.mistake(gradients.overwritten_before_backward(what="the weights")).patch("""
- return weights.masked_fill(mask, 0.0)
+ return weights.masked_fill_(mask, 0.0)
""")
right.mistake(shapes.squeezed).patch("""
  def masked_softmax(scores, mask):
+     scores = scores if scores.dim() > 2 else scores[None]
@@
- return weights.masked_fill(mask, 0.0)
+ return weights.masked_fill(mask, 0.0).squeeze(0)
""")
right.mistake(gradients.cut(what="the scores"), {"filled = scores": "filled = scores.detach()"})
right.mistake(numbers.result_float32(of="the scores"))
right.mistake(numbers.computed_in_float32)
right.mistake(numbers.result_float64(of="the scores"))
right.mistake(
    numbers.default_device(where="the scores", how="`masked_fill`, or `torch.full_like`"),
    {'scores.masked_fill(mask, float("-inf"))': "torch.where(mask, torch.full(scores.shape, -torch.inf), scores)"},
)
right.mistake(scores.softmax_over_everything).patch("""
- weights = torch.softmax(filled, -1)
+ weights = torch.softmax(filled.flatten(), 0).view(filled.shape)
""")
right.mistake(
    "ignores_the_mask",
    {'scores.masked_fill(mask, float("-inf"))': "scores", "weights.masked_fill(mask, 0.0)": "weights"},
).feedback(
    "Your mask changes nothing: blocked keys have the weights that they would have without it. `masked_fill` returns a "
    "new tensor, which you have to use."
)
masked_softmax.mistake(numbers.one_maximum_for_all).full_code("""
def masked_softmax(scores, mask):
    seen = scores.masked_fill(mask, -torch.inf)
    top = seen.max().detach()
    unnormalised = torch.exp(seen - top.masked_fill(top.isinf(), 0.0))
    total = unnormalised.sum(-1, keepdim=True)
    return unnormalised / total.masked_fill(total == 0, 1.0)
""")
right.mistake(
    shapes.squeezed("squeezes_the_queries"),
    {"filled = scores.": "scores, mask = scores.squeeze(-2), mask.squeeze(-2)\n    filled = scores."},
)
right.mistake("fills_with_plus_infinity", {'float("-inf")': 'float("inf")'}).feedback(
    "You fill with +∞, which the softmax turns into NaN. Check the sign."
)
masked_softmax.mistake("returns_the_filled_scores").full_code("""
def masked_softmax(scores, mask):
    return scores.masked_fill(mask, float("-inf"))
""").feedback("You return the filled scores. Take their softmax along the last dimension.")
masked_softmax.mistake("has_the_triangle_of_lesson_0").full_code("""
def masked_softmax(scores, mask):
    future = torch.ones(6, 6).triu(1).bool()
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
""").feedback(
    "You block the triangle of lesson 0's six words, whatever the mask is. Block what `mask` says, which broadcasts to "
    "scores of any shape."
)
