"""Known mistakes in `masked_attention`."""

from ...shared.families import arguments, gradients, masks, numbers, results, scores, shapes
from .contract import masked_attention

FILLS = (-1e9, -1e4, -1e5, -1e6, -1e10, -1e12, -1e20)

EVERYWHERE = ("without", "with a mask")  # what an answer loses whose every result is wrong

right = masked_attention.reference_answer("""
def masked_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
    return weights @ value, weights
""")

right.mistake(scores.unscaled(see="3. Attention with a mask"), {"mT / key.shape[-1] ** 0.5": "mT"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_width(see="3. Attention with a mask"), {"[-1] ** 0.5": "[-1]"}, loses=EVERYWHERE)
right.mistake(scores.multiplied_by_root(see="3. Attention with a mask"), {"mT / key": "mT * key"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_values(see="3. Attention with a mask"), {"key.shape": "value.shape"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_number_of_keys(see="3. Attention with a mask"), {"[-1]": "[-2]"}, loses=EVERYWHERE)
masked_attention.mistake(masks.ignored, loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    return weights @ value, weights
""")
masked_attention.mistake("masked_after_the_softmax", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    return weights @ value, weights
""").feedback(
    "You set blocked weights to 0 after the softmax, so the other weights no longer sum to 1. Mask the scores, "
    "before the softmax.",
)
right.mistake(masks.inverted(see="Two opposite conventions (extra)"), {"else mask": "else ~mask"}, loses="with a mask")
right.mistake(masks.needed("needs_a_mask"), loses="without").patch("""
- mask = torch.tensor(False) if mask is None else mask
@@
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores.masked_fill(BLOCKED, float("-inf"))
""").for_each(BLOCKED=("mask & ~mask.all(-1, keepdim=True)", "mask"))
right.mistake("causal_whatever_the_mask", loses="with a mask").patch("""
  def masked_attention(query, key, value, mask=None):
+     scores = query @ key.mT / key.shape[-1] ** 0.5
@@
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ if scores.shape[-1] == scores.shape[-2]:
+     mask = mask | torch.ones_like(scores, dtype=torch.bool).triu(1)
""").feedback("You block the future in addition to what `mask` blocks. Block only what the mask says.")
right.mistake(masks.causal_by_default, loses="without", clause="nothing").patch("""
- mask = torch.tensor(False) if mask is None else mask
@@
  scores = query @ key.mT / key.shape[-1] ** 0.5
+ if mask is None:
+     T, S = scores.shape[-2:]
+     mask = torch.ones(T, S, dtype=torch.bool).triu(FIRST_BLOCKED)
""").for_each(FIRST_BLOCKED=("max(S - T, 0) + 1", "1"))
right.mistake("blocked_rows_are_nan", loses="fully", clause="empty").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1)
""").feedback("Your fully blocked rows are NaN, and so is their output.", see="A row with nothing to see")
right.mistake("blocked_rows_see_everything", loses="fully").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf")), -1)
""").feedback(
    "A fully blocked row sees every key. You leave its scores as they are and do not set its weights to 0.",
    see="A row with nothing to see",
)
right.mistake(masks.blocked_by_number(see="2. From a mask to weights"), loses=("fully", "with a mask")).patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, FILL), -1)
""").for_each(FILL=FILLS)
right.mistake(
    "fills_scores_with_minus_1e9_but_for_empty_rows",
    {'mask & ~mask.all(-1, keepdim=True), float("-inf")': "mask, FILL", "mask, 0.0": "mask.all(-1, keepdim=True), 0.0"},
    loses="with a mask",
    clause="large",
).for_each(FILL=FILLS).feedback(
    "You set blocked scores to a number such as -1e9, which is not always low enough. The other scores may be "
    "lower still.",
    see="2. From a mask to weights",
)
right.mistake("fills_scores_with_minus_1e9_and_zeroes", loses="with a mask").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores.masked_fill(mask, FILL)
""").for_each(FILL=FILLS).feedback(
    "You set blocked scores to a number such as -1e9, and their weights to 0 afterwards. If the open scores are "
    "lower still, the blocked keys first take the whole weight of 1, and nothing is left.",
    see="2. From a mask to weights",
)
right.mistake("subtracts_1e9_and_zeroes", loses="with a mask").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores - MUCH * mask.to(scores)
""").for_each(MUCH=(1e9, 1e4, 1e5, 1e6, 1e10, 1e12)).feedback(
    "You subtract a large number from blocked scores, and set their weights to 0 afterwards. A blocked score may "
    "be higher than the others by 1e15. Then it first takes the whole weight of 1, and nothing is left.",
    see="2. From a mask to weights",
)
right.mistake(masks.blocked_rows_equal(see="A row with nothing to see"), loses="fully").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1)
""")
masked_attention.mistake("renormalises_the_weights", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)
    return weights @ value, weights
""").feedback(
    "You set blocked weights to 0 after the softmax and then renormalise. If a blocked score is by far the "
    "highest, all other weights are already rounded to 0, and nothing is left to divide.",
)
masked_attention.mistake(
    gradients.nan_wiped_off("wipes_nan_off_the_weights", see="A row with nothing to see"), loses="gradients"
).full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return weights @ value, weights
""")
masked_attention.mistake("masks_the_output_only", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    seen = weights if mask is None else weights * ~mask
    return seen @ value, weights
""").feedback(
    "You remove the *values* of blocked keys, but leave their weights as they were. These weights still take their "
    "share of the total of 1. Mask the scores."
)
right.mistake(scores.keys_times_queries, {"query @ key.mT": "key @ query.mT"}, loses=EVERYWHERE)
right.mistake(scores.softmax_over_queries, loses=EVERYWHERE).patch("""
- mask = torch.tensor(False) if mask is None else mask
+ mask = torch.zeros(1, 1, dtype=torch.bool) if mask is None else mask
@@
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ mask = mask.expand(scores.shape)
+ seen = scores.masked_fill(mask & ~mask.all(-2, keepdim=True), float("-inf"))
+ weights = torch.softmax(seen, -2).masked_fill(mask, 0.0)
""")
right.mistake(results.weights_first, {"weights @ value, weights": "weights, weights @ value"}, loses=EVERYWHERE)
right.mistake(results.output_alone, loses=EVERYWHERE).patch("""
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
- return weights @ value, weights
+ return torch.softmax(seen, -1).masked_fill(mask, 0.0) @ value
""")
right.mistake(results.scores_for_weights, {", weights": ", scores"}, loses=EVERYWHERE)
right.mistake(shapes.all_dimensions_reversed(what="key"), {"key.mT": "key.T"}, loses="batches")
right.mistake("transposes_dimensions_1_and_2", {"key.mT": "key.transpose(1, 2)"}, loses=EVERYWHERE).feedback(
    "You swap dimensions 1 and 2, which are the last two only for the shape (B, S, Dk). There may be no dimension "
    "before them, or several. Count from the end."
)
right.mistake(
    arguments.argument_changed("opens_the_mask_in_place", what="the mask"), loses="float64", clause="purity"
).patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ nothing = mask.all(-1, keepdim=True)
+ mask &= ~nothing
+ weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1).masked_fill(nothing, 0.0)
""")
right.mistake(shapes.squeezed, loses="batches", clause="batches").patch("""
  def masked_attention(query, key, value, mask=None):
+     query, key, value = (x if x.dim() > 2 else x[None] for x in (query, key, value))
@@
- return weights @ value, weights
+ return (weights @ value).squeeze(0), weights.squeeze(0)
""")
right.mistake(arguments.argument_changed("scales_the_query_in_place", what="the query"), loses="float64").patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ query.data /= key.shape[-1] ** 0.5
+ scores = query @ key.mT
""")
right.mistake(gradients.weights_detached(use="use"), loses="gradients", clause="gradients").patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ scores = (query @ key.mT / key.shape[-1] ** 0.5).detach()
""")
right.mistake(
    "weights_in_float64",
    {"weights @ value, weights": "(weights @ value), weights.double()"},
    loses="float64",
    clause="dtype",
).feedback(
    "Your output or your weights have a different dtype from the query. Look for `double()`, `float()` and NumPy "
    "in your code."
)
right.mistake(numbers.computed_in_float32(what="the weights"), loses="float64")
right.mistake(numbers.default_device(where="the query", what="a mask"), loses="float64", clause="device").patch("""
- mask = torch.tensor(False) if mask is None else mask
+ mask = torch.zeros(query.shape[-2], key.shape[-2], dtype=torch.bool) if mask is None else mask
""")
right.mistake(scores.power_divided, {"/ key.shape[-1] ** 0.5": "* (SCALE)"}, loses=EVERYWHERE).for_each(
    SCALE=("key.shape[-1] ** -1 / 2", "2 / key.shape[-1]")
)
right.mistake(masks.blocked_by_small_number(see="2. From a mask to weights"), loses=("with a mask", "fully")).patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, FILL), -1)
""").for_each(FILL=(-1e-12, 0.0))
right.mistake(
    shapes.reshaped_keys, {"key.mT": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=EVERYWHERE
).for_each(VIEW=("reshape", "view"))
right.mistake(masks.needed("has_no_default_for_the_mask"), {"mask=None": "mask"}, loses="without")
right.mistake(masks.truth_value, {"mask is None else": "not mask else"}, loses="with a mask")
masked_attention.mistake(
    gradients.nan_wiped_off("wipes_nan_off_at_the_end", see="A row with nothing to see", what="the values"),
    loses="gradients",
).full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    return (weights @ value).nan_to_num(0.0), weights.nan_to_num(0.0)
""")
right.mistake(shapes.rows_and_columns_exchanged, {"else mask": "else mask.mT"}, loses="with a mask")
masked_attention.mistake("wipes_nan_off_one_of_the_two", loses="fully").full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    return RESULTS
""").for_each(
    RESULTS=("(weights @ value).nan_to_num(0.0), weights", "weights @ value, weights.nan_to_num(0.0)")
).feedback(
    "In fully blocked rows, one of your two results is 0 and the other one is NaN. You replace NaN in only one of "
    "them. Compute the weights so that no NaN appears.",
    see="A row with nothing to see",
)
right.mistake(gradients.overwritten_before_backward(what="the weights"), loses="gradients").patch("""
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(seen, -1).masked_fill_(mask, 0.0)
""")
masked_attention.alternative("flattened_to_one_batch").mistake(
    shapes.view_of_strided, {"x.reshape(-1, *x": "x.view(-1, *x"}, loses="float64"
)
masked_attention.mistake("asks_for_two_dimensions", loses=("with a mask", "batches"), clause="broadcasts").full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        T, S = mask.shape[-2:]
        scores = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
    weights = torch.softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    return weights @ value, weights
""").feedback(
    "Your function needs a mask with two dimensions or more. A mask (S,), the same for all queries, broadcasts as well."
)
masked_attention.mistake("is_the_attention_of_lesson_0", loses=("without", "with a mask", "batches")).full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.T / query.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(len(query), len(key)).triu(1).bool(), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
""").feedback(
    "This is lesson 0's attention: it takes a single sentence, and always blocks its triangle. Block what `mask` says, "
    "and swap only the last two dimensions of the keys, so that batches work."
)
