"""Known mistakes in `masked_attention`."""

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

right.mistake("unscaled", {"key.mT / key.shape[-1] ** 0.5": "key.mT"}, loses=EVERYWHERE).feedback(
    "The scores are not scaled: divide them by √K, K being the width of a key.", see="4. Attention with a mask"
)
right.mistake("scaled_by_the_width_itself", {"[-1] ** 0.5": "[-1]"}, loses=EVERYWHERE).feedback(
    "The scores are divided by K. Divide them by its *root*.", see="4. Attention with a mask"
)
right.mistake("scaled_the_wrong_way", {"key.mT / key.shape": "key.mT * key.shape"}, loses=EVERYWHERE).feedback(
    "The scores are *multiplied* by √K. Divide by it.", see="4. Attention with a mask"
)
right.mistake("scaled_by_the_width_of_values", {"key.shape": "value.shape"}, loses=EVERYWHERE).feedback(
    "The scale is made from the width of the values. It is the keys' width that makes scores grow.",
    see="4. Attention with a mask",
)
right.mistake("scaled_by_the_number_of_keys", {"[-1]": "[-2]"}, loses=EVERYWHERE).feedback(
    "The scale is made from the number of keys. It is their width that makes scores grow.",
    see="4. Attention with a mask",
)
masked_attention.mistake("ignores_the_mask", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    return weights @ value, weights
""").feedback("The mask is never used.")
masked_attention.mistake("masked_after_the_softmax", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    return weights @ value, weights
""").feedback(
    "Zeroes after the softmax: the weights that are left do not sum to 1. Mask the scores, before.",
    see="7. A field guide to wrong masks",
)
right.mistake("sees_what_is_blocked", {"else mask": "else ~mask"}, loses="with a mask").feedback(
    "The mask is inverted: each query sees just what it must not. Here True means *blocked*.",
    see="5. Two opposite conventions",
)
right.mistake("needs_a_mask", loses="without").patch("""
- mask = torch.tensor(False) if mask is None else mask
@@
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores.masked_fill(BLOCKED, float("-inf"))
""").for_each(BLOCKED=("mask & ~mask.all(-1, keepdim=True)", "mask")).feedback(
    "Without a mask this fails, and `mask` is None by default: then nothing is blocked."
)
right.mistake("causal_whatever_the_mask", loses="with a mask").patch("""
  def masked_attention(query, key, value, mask=None):
+     scores = query @ key.mT / key.shape[-1] ** 0.5
@@
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ if scores.shape[-1] == scores.shape[-2]:
+     mask = mask | torch.ones_like(scores, dtype=torch.bool).triu(1)
""").feedback("Beside what `mask` blocks the future is blocked, too. The mask alone decides.")
right.mistake("causal_by_default", loses="without").patch("""
- mask = torch.tensor(False) if mask is None else mask
@@
  scores = query @ key.mT / key.shape[-1] ** 0.5
+ if mask is None:
+     T, S = scores.shape[-2:]
+     mask = torch.ones(T, S, dtype=torch.bool).triu(max(S - T, 0) + 1)
""").feedback("Without a mask the future is blocked. `mask=None` blocks nothing.")
right.mistake("blocked_rows_are_nan", loses="fully").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1)
""").feedback("Fully blocked rows are NaN, and so is what comes out of them.", see="A row with nothing to see")
right.mistake("blocked_rows_see_everything", loses="fully").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf")), -1)
""").feedback(
    "A fully blocked row sees everything: its scores were left as they are, and its weights were not set to 0.",
    see="A row with nothing to see",
)
right.mistake("fills_scores_with_minus_1e9", loses=("fully", "with a mask")).patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, FILL), -1)
""").for_each(FILL=FILLS).feedback(
    "Blocked scores become a number such as -1e9: not low enough where the others are lower still, and in a fully "
    "blocked row it makes all keys equal.",
    see="3. From a mask to weights",
)
right.mistake("fills_scores_with_minus_1e9_but_for_empty_rows", loses="with a mask").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ seen = scores.masked_fill(mask, FILL)
+ weights = torch.softmax(seen, -1).masked_fill(mask.all(-1, keepdim=True), 0.0)
""").for_each(FILL=FILLS).feedback(
    "Blocked scores become a number such as -1e9: that is not low enough where the others are lower still.",
    see="3. From a mask to weights",
)
right.mistake("fills_scores_with_minus_1e9_and_zeroes", loses="with a mask").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores.masked_fill(mask, FILL)
""").for_each(FILL=FILLS).feedback(
    "Blocked scores become a number such as -1e9, and their weights 0. Where the open scores are lower still, the "
    "blocked ones take all of the 1 first, and nothing is left.",
    see="3. From a mask to weights",
)
right.mistake("subtracts_1e9_and_zeroes", loses="with a mask").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
+ seen = scores - MUCH * mask.to(scores)
""").for_each(MUCH=(1e9, 1e4, 1e5, 1e6, 1e10, 1e12)).feedback(
    "Something large is subtracted from the blocked scores, and their weights set to 0. They may be larger by 1e15 "
    "than the others: then they take all of the 1 first, and nothing is left.",
    see="3. From a mask to weights",
)
right.mistake("blocked_rows_are_uniform", loses="fully").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1)
""").feedback(
    "In a fully blocked row all keys get the same weight: they were all filled with the same finite number. The row "
    "must be 0.",
    see="A row with nothing to see",
)
masked_attention.mistake("renormalises_the_weights", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1).masked_fill(mask, 0.0)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-12)
    return weights @ value, weights
""").feedback(
    "Zeroes after the softmax, then renormalised. Where a blocked score is much the highest, all others have been "
    "rounded to 0 before, and nothing is left to share.",
    see="6. Is it a bug?",
)
masked_attention.mistake("wipes_nan_off_the_weights", loses="gradients").full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    return weights @ value, weights
""").feedback(
    "Forward all is right; in the gradient a fully blocked row makes NaN of everything it came from. Wiping NaN off "
    "the result does not wipe it off the way back.",
    see="A row with nothing to see",
)
masked_attention.mistake("masks_the_output_only", loses="with a mask").full_code("""
def masked_attention(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    seen = weights if mask is None else weights * ~mask
    return seen @ value, weights
""").feedback(
    "The *values* of blocked keys were set to 0, and their weights left as they were: they still take their share of "
    "the 1. Mask the scores."
)
right.mistake("keys_times_queries", {"query @ key.mT": "key @ query.mT"}, loses=EVERYWHERE).feedback(
    "The keys are multiplied with the queries: the scores lie on their side. Rows are queries: query @ keyᵀ."
)
right.mistake("softmax_over_the_queries", loses=EVERYWHERE).patch("""
- mask = torch.tensor(False) if mask is None else mask
+ mask = torch.zeros(1, 1, dtype=torch.bool) if mask is None else mask
@@
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ mask = mask.expand(scores.shape)
+ seen = scores.masked_fill(mask & ~mask.all(-2, keepdim=True), float("-inf"))
+ weights = torch.softmax(seen, -2).masked_fill(mask, 0.0)
""").feedback("Each column of the weights sums to 1, not each row: the softmax goes over the queries. Look at `dim`.")
right.mistake("weights_first", {"weights @ value, weights": "weights, weights @ value"}, loses=EVERYWHERE).feedback(
    "The weights come first and the output second. Return (output, weights)."
)
right.mistake("output_only", loses=EVERYWHERE).patch("""
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
- return weights @ value, weights
+ return torch.softmax(seen, -1).masked_fill(mask, 0.0) @ value
""").feedback("Only the output is returned. Return (output, weights).")
right.mistake("scores_for_weights", {", weights": ", scores"}, loses=EVERYWHERE).feedback(
    "What is returned beside the output are scores. Return the weights, after the softmax."
)
right.mistake("transposes_the_batch", {"key.mT": "key.T"}, loses="batches").feedback(
    "`.T` turns round *all* dimensions of a batch. Exchange the last two only."
)
right.mistake("transposes_dimensions_1_and_2", {"key.mT": "key.transpose(1, 2)"}, loses=EVERYWHERE).feedback(
    "`transpose(1, 2)` means the last two dimensions of (B, S, K) and of nothing else. There may be none in front of "
    "them, or several: count from the end."
)
right.mistake("opens_the_mask_in_place", loses="float64").patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ nothing = mask.all(-1, keepdim=True)
+ mask &= ~nothing
+ weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1).masked_fill(nothing, 0.0)
""").feedback(
    "The mask was changed in place: `&=` and functions whose name ends in `_` write into it, and whoever made it uses "
    "it again. Make a new one."
)
right.mistake("drops_a_batch_of_one", loses="batches").patch("""
  def masked_attention(query, key, value, mask=None):
+     query, key, value = (x if x.dim() > 2 else x[None] for x in (query, key, value))
@@
- return weights @ value, weights
+ return (weights @ value).squeeze(0), weights.squeeze(0)
""").feedback(
    "A batch of one comes back without its first dimension: `squeeze` takes away whatever has the size 1, and not only "
    "what was put there before."
)
right.mistake("scales_the_query_in_place", loses="float64").patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ query.data /= key.shape[-1] ** 0.5
+ scores = query @ key.mT
""").feedback("The query was scaled in place: it is not what it was before the call. Work on a new tensor.")
right.mistake("detached_weights", loses="gradients").patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ scores = (query @ key.mT / key.shape[-1] ** 0.5).detach()
""").feedback("No gradient flows through the weights: they were cut off by `detach`, `.data` or `no_grad`.")
right.mistake(
    "weights_in_float64", {"weights @ value, weights": "(weights @ value), weights.double()"}, loses="float64"
).feedback(
    "The output or the weights have another dtype than the query: look for `double()`, `float()` and numpy on the way."
)
right.mistake(
    "weights_in_float32_on_the_way", {"(seen, -1)": "(seen, -1, dtype=torch.float32).to(seen.dtype)"}, loses="float64"
).feedback(
    "Somewhere on the way the numbers are float32, whatever they were before: look for `float()` and `dtype=`. What "
    "float64 holds beyond that is lost, though the result is float64 again."
)
right.mistake(
    "a_mask_on_another_device",
    {"torch.tensor(False)": "torch.zeros(query.shape[-2], key.shape[-2], dtype=torch.bool)"},
    loses="float64",
).feedback(
    "Without a mask you make one on PyTorch's default device. The queries may lie elsewhere: name their device, or do "
    "without."
)
right.mistake("divides_the_power", {"/ key.shape[-1] ** 0.5": "* (SCALE)"}, loses=EVERYWHERE).for_each(
    SCALE=("key.shape[-1] ** -1 / 2", "2 / key.shape[-1]")
).feedback(
    "The exponent is not what it seems: `**` comes before `/`, so that `K ** -1 / 2` is half of 1 / K, and "
    "`K ** 1 / 2` half of K. Compare it with `math.sqrt` for K = 16."
)
right.mistake("fills_with_next_to_nothing", loses=("with a mask", "fully")).patch("""
- seen = scores.masked_fill(mask & ~mask.all(-1, keepdim=True), float("-inf"))
- weights = torch.softmax(seen, -1).masked_fill(mask, 0.0)
+ weights = torch.softmax(scores.masked_fill(mask, FILL), -1)
""").for_each(FILL=(-1e-12, 0.0)).feedback(
    "Blocked scores become 0, or a number near it such as -1e-12 (was 1e12 meant?). A score of 0 is a vote like any "
    "other: look at the weight that a blocked key gets.",
    see="3. From a mask to weights",
)
right.mistake(
    "reshapes_the_keys", {"key.mT": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=EVERYWHERE
).for_each(VIEW=("reshape", "view")).feedback(
    "You reshape the keys (`view`, `reshape`) where they should be transposed. The shape comes out right, and the "
    "numbers stay in their old order, so that a column of the result holds pieces of several keys."
)
right.mistake("has_no_default_for_the_mask", {"mask=None": "mask"}, loses="without").feedback(
    "Without a mask the call fails: give `mask` the default None, and block nothing then."
)
right.mistake("asks_whether_the_mask_is_true", {"mask is None else": "not mask else"}, loses="with a mask").feedback(
    "You ask whether the mask itself is true (`if mask`). A tensor of many numbers is neither true nor false: ask "
    "`mask is None`."
)
masked_attention.mistake("wipes_nan_off_at_the_end", loses="gradients").full_code("""
def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, -1)
    return (weights @ value).nan_to_num(0.0), weights.nan_to_num(0.0)
""").feedback(
    "Forward all is right; in the gradient a fully blocked row makes NaN of the values. NaN was in the weights when "
    "they met the values, and wiping it off both results does not wipe it off the way back.",
    see="A row with nothing to see",
)
right.mistake("turns_the_mask", {"else mask": "else mask.mT"}, loses="with a mask").feedback(
    "The mask is transposed: its rows are queries, its columns keys, as they are in the scores."
)
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
    "In fully blocked rows one of the two results is 0, and the other one NaN: it was wiped off one of them only. Let "
    "none arise.",
    see="A row with nothing to see",
)
right.mistake(
    "writes_into_the_weights", {"(seen, -1).masked_fill(": "(seen, -1).masked_fill_("}, loses="gradients"
).feedback(
    "The weights were changed in place, and the softmax needs them as they were on the way back. `weights[...] = 0` "
    "and functions whose name ends in `_` write into a tensor: make a new one."
)
masked_attention.alternative("flattened_to_one_batch").mistake(
    "flattens_by_view", {"x.reshape(-1, *x": "x.view(-1, *x"}, loses="float64"
).feedback(
    "`view` joins dimensions only where their numbers lie in order in memory. After a `transpose`, as when heads are "
    "split off, they do not: read what its error proposes."
)
