"""Known mistakes in `partial_attention`."""

from ...shared.families import arguments, gradients, masks, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import BLOCKED, SCALE
from .contract import partial_attention

EVERYWHERE = ("without", "with a mask")  # what an answer loses whose every result is wrong

right = partial_attention.reference_answer("""
def partial_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    scores = scores.masked_fill(mask, -torch.inf)
    empty = mask.all(-1, keepdim=True) | torch.zeros_like(scores[..., :1], dtype=torch.bool)
    lse = torch.logsumexp(scores.masked_fill(empty, 0.0), -1, keepdim=True)
    weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
    return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
""")

# Another way, in which the sum is divided by: mistakes show otherwise in rows that see nothing
divided = partial_attention.reference_answer("""
def partial_attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    highest = scores.amax(-1, keepdim=True).detach()
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0)
    parts = torch.exp(scores - highest)
    total = parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)
    lse = (highest + total.log()).masked_fill(empty, -torch.inf)
    return parts / total @ value, lse.squeeze(-1)
""")
# Both ways, for mistakes in what comes before
WAYS = """

def by_log_sum(scores, value):
    lse = torch.logsumexp(scores, -1, keepdim=True)
    return torch.exp(scores - lse) @ value, lse.squeeze(-1)


def by_sum(scores, value):
    highest = scores.amax(-1, keepdim=True)
    parts = torch.exp(scores - highest)
    total = parts.sum(-1, keepdim=True)
    return parts / total @ value, (highest + total.log()).squeeze(-1)
"""
FILLED = """
def partial_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    return FOUND
"""

right.mistake(scores.unscaled(see=SCALE), {"key.mT / key.shape[-1] ** 0.5": "key.mT"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_width(see=SCALE), {"[-1] ** 0.5": "[-1]"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_values(see=SCALE), {"key.shape": "value.shape"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_number_of_keys(see=SCALE), {"key.shape[-1]": "key.shape[-2]"}, loses=EVERYWHERE)
right.mistake(scores.multiplied_by_root(see=SCALE), {"mT / key": "mT * key"}, loses=EVERYWHERE)
right.mistake(
    "zeroes_blocked_scores", {"masked_fill(mask, -torch.inf)\n": "masked_fill(mask, 0.0)\n"}, loses="with a mask"
).feedback("You set blocked scores to 0, but e⁰ is 1, so the keys are still seen. They must be −∞.", see=BLOCKED)
divided.mistake("multiplies_the_mask_by_infinity", loses="with a mask").patch("""
- scores = scores.masked_fill(mask, -torch.inf)
+ scores = scores + mask * -torch.inf
""").feedback(
    "You add the mask times −∞, which is NaN wherever nothing is blocked: 0 times −∞ is NaN. Fill the scores "
    "instead, by `masked_fill` or `torch.where`.",
    see=BLOCKED,
)
divided.mistake(
    masks.added(see=BLOCKED), {"scores.masked_fill(mask, -torch.inf)": "scores + mask"}, loses="with a mask"
)
right.mistake("sums_unscaled_scores", loses=EVERYWHERE).patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ unscaled = torch.logsumexp((query @ key.mT).masked_fill(mask, -torch.inf), -1, keepdim=True)
+ return weights @ value, unscaled.masked_fill(empty, -torch.inf).squeeze(-1)
""").feedback("Your output is right, but the log-sum-exp is that of the scores before they were scaled.", see=SCALE)
right.mistake("sums_blocked_scores_too", loses="with a mask").patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ return weights @ value, torch.logsumexp(query @ key.mT / key.shape[-1] ** 0.5, -1)
""").feedback("Your output is right, but the log-sum-exp counts the blocked keys, too.", see=SCALE)
right.mistake("does_not_divide_by_the_sum", {"- lse": "- scores.amax(-1, keepdim=True)"}, loses=EVERYWHERE).feedback(
    "Your weights do not sum to 1 in a row: the output is that of the shifted exponentials. Divide by their sum, or "
    "subtract the log-sum-exp where you subtract the maximum.",
    see=SCALE,
)
right.mistake(
    "returns_the_maximum", {"lse.masked_fill(empty, -torch.inf)": "scores.amax(-1, keepdim=True)"}, loses=EVERYWHERE
).feedback(
    "You return the largest score of each row as the second result. To merge parts, the logarithm of the whole sum "
    "is needed.",
    see="3. Two parts into one",
)
right.mistake("returns_the_sum", {", lse.masked_fill(empty, -torch.inf)": ", SUM"}, loses=EVERYWHERE).for_each(
    SUM=("lse.exp()", "(lse - scores.amax(-1, keepdim=True)).exp()")
).feedback(
    "You return the sum of exponentials, not its logarithm. It overflows where its logarithm is an ordinary number.",
    see=SCALE,
)
right.mistake(
    "returns_the_shifted_logarithm", {"value, lse": "value, (lse - scores.amax(-1, keepdim=True))"}, loses=EVERYWHERE
).feedback(
    "Your log-sum-exp lacks the largest score, which was subtracted before `exp`. Add it to the logarithm.",
    see="1. One number for a whole row",
)
right.mistake(
    "returns_the_weights", {", lse.masked_fill(empty, -torch.inf).squeeze(-1)": ", weights"}, loses=EVERYWHERE
).feedback(
    "You return the weights, as in lessons 3 to 7. Here the second result is the log-sum-exp, one number per query: "
    "the weights are not kept."
)
right.mistake(results.weights_first(other="log-sum-exp"), loses=EVERYWHERE).patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ return lse.masked_fill(empty, -torch.inf).squeeze(-1), weights @ value
""")
right.mistake(results.output_alone(other="log-sum-exp"), loses=EVERYWHERE).patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ return weights @ value
""")
right.mistake(shapes.dimension_kept, {".squeeze(-1)": ""}, loses=EVERYWHERE)
right.mistake(scores.softmax_over_queries, {"(empty, 0.0), -1": "(empty, 0.0), -2"}, loses=EVERYWHERE)
divided.mistake(
    "shares_out_over_queries",
    {"scores.amax(-1": "scores.amax(-2", "parts.sum(-1": "parts.sum(-2", "lse.squeeze(-1)": "lse.squeeze(-2)"},
    loses=EVERYWHERE,
).feedback(
    "You take maximum and sum over the queries, which then share the weight of a key. The keys, the last dimension "
    "of the scores, should share the weight of a query."
)
right.mistake(masks.inverted, {"else mask": "else ~mask"}, loses="with a mask")
right.mistake(masks.ignored, {"tensor(False) if mask is None else mask": "tensor(False)"}, loses="with a mask")
right.mistake(masks.needed, loses="without").patch("""
- mask = torch.tensor(False) if mask is None else mask
""")
right.mistake(masks.truth_value, {"mask is None else": "not mask else"}, loses="with a mask")
right.mistake("masks_the_weights_only", loses="with a mask").patch("""
- scores = scores.masked_fill(mask, -torch.inf)
@@
- weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
+ weights = torch.exp(scores - lse).masked_fill(mask, 0.0)
""").feedback(
    "You set weights to 0 after the blocked keys have had their share of the sum. Block the *scores*, before the sum.",
    see=SCALE,
)
partial_attention.mistake("rows_of_nothing_are_nan", loses=("rows that see", "gradients")).full_code(
    FILLED + WAYS
).for_each(FOUND=[f"{way}(scores.masked_fill(mask, -torch.inf), value)" for way in ("by_log_sum", "by_sum")]).feedback(
    "Your result is NaN in a row that sees nothing. Its scores and its log-sum-exp are all −∞, and −∞ − (−∞) is NaN.",
    see=BLOCKED,
)
right.mistake(gradients.nan_wiped_off(see=BLOCKED), loses="gradients").patch("""
- lse = torch.logsumexp(scores.masked_fill(empty, 0.0), -1, keepdim=True)
- weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ lse = torch.logsumexp(scores, -1, keepdim=True)
+ return (torch.exp(scores - lse) @ value).nan_to_num(), lse.squeeze(-1)
""")
right.mistake("a_row_of_nothing_is_finite", {"empty, -torch.inf": "empty, FILL"}, loses="rows that see").for_each(
    FILL=(0.0, -1e9, -1e4)
).feedback(
    "You return a finite log-sum-exp for a row that sees nothing. It must be −∞, so that a merge gives that part no "
    "share.",
    see=BLOCKED,
)
right.mistake("a_row_of_nothing_is_plus_infinity", {"empty, -torch": "empty, torch"}, loses="rows that see").feedback(
    "You return +∞ as the log-sum-exp of a row that sees nothing. It is the logarithm of an empty sum, which is −∞. "
    "With +∞, that part would get everything in a merge.",
    see=BLOCKED,
)
partial_attention.mistake("fills_with_a_fixed_number", loses=("scores up to", "rows that see")).full_code(
    FILLED + WAYS
).for_each(
    FOUND=[
        f"{way}(scores.masked_fill(mask, {fill}), value)" for fill in (-1e4, -1e3) for way in ("by_log_sum", "by_sum")
    ]
).feedback(
    "You replace blocked scores with a number such as −10,000. Real scores are that low here, so blocked keys win, "
    "and a row that sees nothing sees everything.",
    see=BLOCKED,
)
partial_attention.mistake("rows_of_nothing_see_everything", loses="rows that see").full_code(FILLED + WAYS).for_each(
    FOUND=[
        f"{way}(scores.masked_fill(mask, {fill}), value)"
        for fill in (-1e9, -1e6, -1e12, "torch.finfo(scores.dtype).min")
        for way in ("by_log_sum", "by_sum")
    ]
).feedback(
    "You give all keys an equal weight in a row that sees nothing: all its scores are the same finite number. Its "
    "output must be 0, and its log-sum-exp −∞.",
    see=BLOCKED,
)
divided.mistake("takes_the_maximum_of_blocked_scores", loses="scores up to").patch("""
+ highest = scores.amax(-1, keepdim=True).detach()
  if mask is not None:
@@
- highest = scores.amax(-1, keepdim=True).detach()
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
@@
- total = parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)
+ total = parts.sum(-1, keepdim=True)
+ empty = total == 0
+ total = total.masked_fill(empty, 1.0)
""").feedback(
    "You take the maximum before you block keys. Where a blocked key is far above the rest, all other exponentials "
    "are rounded to 0: block first.",
    see="1. One number for a whole row",
)
divided.mistake(numbers.one_maximum_for_all(see="1. One number for a whole row"), loses="scores up to").patch("""
- highest = scores.amax(-1, keepdim=True).detach()
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
+ empty = scores.isneginf().all(-1, keepdim=True)
+ highest = scores.detach().masked_fill(empty, -1e6).max()
""")
divided.mistake("begins_with_a_maximum_of_0", loses="scores up to").patch("""
- highest = scores.amax(-1, keepdim=True).detach()
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
+ empty = scores.isneginf().all(-1, keepdim=True)
+ highest = scores.amax(-1, keepdim=True).detach().clamp(min=0.0)
""").feedback(
    "You never subtract less than 0, so every exponential is rounded to 0 where all scores of a row are far below. "
    "Subtract the largest score, whatever it is.",
    see="1. One number for a whole row",
)
divided.mistake(
    numbers.tiny_number_added(see=BLOCKED),
    {".masked_fill(empty, 1.0)": " + EPS", ".masked_fill(empty, -torch.inf)": ""},
    loses="rows that see",
).for_each(EPS=(1e-9, 1e-12, 1e-8, 1e-10))
divided.mistake(
    gradients.treated_as_constant("takes_weights_for_constants", what="the weights", of="queries and keys"),
    {"parts / total @": "(parts / total).detach() @"},
    loses="gradients",
)
partial_attention.mistake(numbers.exponentials_overflow("subtracts_no_maximum"), loses="scores up to").full_code("""
def partial_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    parts = scores.masked_fill(mask, -torch.inf).exp()
    total = parts.sum(-1, keepdim=True)
    empty = EMPTY
    total = total.masked_fill(empty, 1.0)
    return parts / total @ value, total.log().masked_fill(empty, -torch.inf).squeeze(-1)
""").for_each(EMPTY=("mask.all(-1, keepdim=True) | torch.zeros_like(total, dtype=torch.bool)", "total == 0")).feedback(
    "Your exponentials overflow, or are all rounded to 0. Subtract the largest score of a row before `exp`.",
    see="1. One number for a whole row",
)
right.mistake(gradients.cut(what="the log-sum-exp"), {"squeeze(-1)": "squeeze(-1).detach()"}, loses="gradients")
right.mistake(
    gradients.treated_as_constant("takes_the_sum_for_a_constant"), {"- lse": "- lse.detach()"}, loses="gradients"
)
right.mistake(
    shapes.reshaped_keys, {"key.mT": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=EVERYWHERE
).for_each(VIEW=("reshape", "view"))
right.mistake(numbers.result_float32(of="the arguments"), loses="float64")
divided.mistake(arguments.argument_changed(what="the query"), loses=("float64", "gradients")).patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ with torch.no_grad():
+     query /= key.shape[-1] ** 0.5
+ scores = query @ key.mT
""")
right.mistake(arguments.mask_inverted_in_place, {"else mask\n": "else ~mask.logical_not_()\n"}, loses="float64")
right.mistake(numbers.default_device(where="the query", what="a mask"), loses="float64").patch("""
- mask = torch.tensor(False) if mask is None else mask
+ mask = torch.zeros(query.shape[-2], key.shape[-2], dtype=torch.bool) if mask is None else mask
""")
keeps_its_last_result(right, loses="without")
