"""Known mistakes in `partial_attention`."""

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

right.mistake("unscaled", {"key.mT / key.shape[-1] ** 0.5": "key.mT"}, loses=EVERYWHERE).feedback(
    "The scores are not scaled: divide them by √K, K being the width of a key.", see=SCALE
)
right.mistake("scaled_by_the_width_itself", {"[-1] ** 0.5": "[-1]"}, loses=EVERYWHERE).feedback(
    "The scores are divided by K. Divide them by its *root*.", see=SCALE
)
right.mistake("scaled_by_the_width_of_values", {"key.shape": "value.shape"}, loses=EVERYWHERE).feedback(
    "The scale is made from the width of the values. It is the keys' width that makes scores grow.", see=SCALE
)
right.mistake("scaled_by_the_number_of_keys", {"key.shape[-1]": "key.shape[-2]"}, loses=EVERYWHERE).feedback(
    "The scale is made from the number of keys. It is their width that makes scores grow.", see=SCALE
)
right.mistake(
    "multiplied_by_the_root", {"/ key.shape[-1] ** 0.5": "* key.shape[-1] ** 0.5"}, loses=EVERYWHERE
).feedback("The scores are multiplied by √K. Divide them by it.", see=SCALE)
right.mistake(
    "zeroes_blocked_scores", {"masked_fill(mask, -torch.inf)\n": "masked_fill(mask, 0.0)\n"}, loses="with a mask"
).feedback("A blocked score becomes 0, and e⁰ is 1: the key is still seen. It must be −∞.", see=BLOCKED)
divided.mistake(
    "multiplies_the_mask_by_infinity",
    {"scores = scores.masked_fill(mask, -torch.inf)": "scores = scores + mask * -torch.inf"},
    loses="with a mask",
).feedback(
    "You add the mask times −∞, and 0 times −∞ is NaN: it comes wherever nothing is blocked. Fill the scores, by "
    "`masked_fill` or `torch.where`.",
    see=BLOCKED,
)
divided.mistake(
    "adds_the_mask", {"scores = scores.masked_fill(mask, -torch.inf)": "scores = scores + mask"}, loses="with a mask"
).feedback("You add the mask to the scores as it is: a blocked one becomes greater by 1. It must be −∞.", see=BLOCKED)
right.mistake("sums_unscaled_scores", loses=EVERYWHERE).patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ unscaled = torch.logsumexp((query @ key.mT).masked_fill(mask, -torch.inf), -1, keepdim=True)
+ return weights @ value, unscaled.masked_fill(empty, -torch.inf).squeeze(-1)
""").feedback("The output is right; the log-sum-exp is that of the scores before they were scaled.", see=SCALE)
right.mistake("sums_blocked_scores_too", loses="with a mask").patch("""
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ return weights @ value, torch.logsumexp(query @ key.mT / key.shape[-1] ** 0.5, -1)
""").feedback("The output is right, but the log-sum-exp counts the blocked keys, too.", see=SCALE)
right.mistake("does_not_divide_by_the_sum", loses=EVERYWHERE).patch("""
- weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
+ weights = torch.exp(scores - scores.amax(-1, keepdim=True)).masked_fill(empty, 0.0)
""").feedback(
    "The weights of a row do not sum to 1: the output is that of the shifted exponentials. Divide by their sum, or "
    "subtract the log-sum-exp where you subtract the maximum.",
    see=SCALE,
)
right.mistake(
    "returns_the_maximum", {"lse.masked_fill(empty, -torch.inf)": "scores.amax(-1, keepdim=True)"}, loses=EVERYWHERE
).feedback(
    "You return the largest score of each row beside the output. To merge parts the whole sum is needed: its "
    "logarithm.",
    see="3. Two parts into one",
)
right.mistake("returns_the_sum", {", lse.masked_fill(empty, -torch.inf)": ", SUM"}, loses=EVERYWHERE).for_each(
    SUM=("lse.exp()", "(lse - scores.amax(-1, keepdim=True)).exp()")
).feedback(
    "You return the sum of exponentials and not its logarithm: it overflows where its logarithm is an ordinary number.",
    see=SCALE,
)
right.mistake(
    "returns_the_shifted_logarithm",
    {", lse.masked": ", (lse - scores.amax(-1, keepdim=True)).masked"},
    loses=EVERYWHERE,
).feedback(
    "The log-sum-exp lacks the largest score, which was subtracted before `exp`: add it to the logarithm.",
    see="1. One number for a whole row",
)
right.mistake(
    "returns_the_weights", {", lse.masked_fill(empty, -torch.inf).squeeze(-1)": ", weights"}, loses=EVERYWHERE
).feedback(
    "You return the weights, as lessons 3 to 7 did. Here the second result is the log-sum-exp, one number a query: "
    "the weights are what is not kept."
)
right.mistake(
    "returns_the_log_sum_exp_first",
    {
        "return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)": "return lse.masked_fill(empty, "
        "-torch.inf).squeeze(-1), weights @ value"
    },
    loses=EVERYWHERE,
).feedback("The results are in the wrong order: the output first, then the log-sum-exp.")
right.mistake(
    "returns_the_output_alone", {"@ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)": "@ value"}, loses=EVERYWHERE
).feedback("You return the output alone: two results are asked for, (output, lse).")
right.mistake("keeps_a_dimension", {".squeeze(-1)": ""}, loses=EVERYWHERE).feedback(
    "The log-sum-exp has a last dimension of 1. One number for each query: its shape is (..., T)."
)
right.mistake(
    "sums_over_queries",
    {"scores.masked_fill(empty, 0.0), -1, keepdim": "scores.masked_fill(empty, 0.0), -2, keepdim"},
    loses=EVERYWHERE,
).feedback(
    "The sum runs over the queries. It is the keys, the last dimension of the scores, that share the weight of a query."
)
divided.mistake(
    "shares_out_over_queries",
    {"scores.amax(-1": "scores.amax(-2", "parts.sum(-1": "parts.sum(-2", "lse.squeeze(-1)": "lse.squeeze(-2)"},
    loses=EVERYWHERE,
).feedback(
    "Maximum and sum run over the queries, so that those share the weight of a key. It is the keys, the last dimension "
    "of the scores, that share the weight of a query."
)
right.mistake("sees_what_is_blocked", {"else mask": "else ~mask"}, loses="with a mask").feedback(
    "The mask is inverted: each query sees just what it must not. Here True means *blocked*."
)
right.mistake(
    "ignores_the_mask", {"torch.tensor(False) if mask is None else mask": "torch.tensor(False)"}, loses="with a mask"
).feedback("The mask is never used.")
right.mistake("needs_a_mask", loses="without").patch("""
- mask = torch.tensor(False) if mask is None else mask
""").feedback("Without a mask this fails, and `mask` is None by default: then nothing is blocked.")
right.mistake("asks_whether_the_mask_is_true", {"mask is None else": "not mask else"}, loses="with a mask").feedback(
    "You ask whether the mask itself is true (`if mask`). A tensor of many numbers is neither: ask `mask is None`."
)
right.mistake("masks_the_weights_only", loses="with a mask").patch("""
- scores = scores.masked_fill(mask, -torch.inf)
@@
- weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
+ weights = torch.exp(scores - lse).masked_fill(mask, 0.0)
""").feedback(
    "Weights are set to 0 after blocked keys have had their share of the sum. Block the *scores*, before the sum.",
    see=SCALE,
)
partial_attention.mistake("rows_of_nothing_are_nan", loses=("rows that see", "gradients")).full_code(
    FILLED + WAYS
).for_each(FOUND=[f"{way}(scores.masked_fill(mask, -torch.inf), value)" for way in ("by_log_sum", "by_sum")]).feedback(
    "A row that sees nothing is NaN: its scores and its log-sum-exp are all −∞, and −∞ − (−∞) is NaN.", see=BLOCKED
)
right.mistake("wipes_nan_off_at_the_end", loses="gradients").patch("""
- lse = torch.logsumexp(scores.masked_fill(empty, 0.0), -1, keepdim=True)
- weights = torch.exp(scores - lse).masked_fill(empty, 0.0)
- return weights @ value, lse.masked_fill(empty, -torch.inf).squeeze(-1)
+ lse = torch.logsumexp(scores, -1, keepdim=True)
+ return (torch.exp(scores - lse) @ value).nan_to_num(), lse.squeeze(-1)
""").feedback(
    "Forward all is right; on the way back a row that sees nothing makes NaN. It was in the weights when they met "
    "the values, and wiping it off the output does not wipe it off the way back.",
    see=BLOCKED,
)
right.mistake(
    "a_row_of_nothing_is_finite",
    {"lse.masked_fill(empty, -torch.inf)": "lse.masked_fill(empty, FILL)"},
    loses="rows that see",
).for_each(FILL=(0.0, -1e9, -1e4)).feedback(
    "The log-sum-exp of a row that sees nothing is a finite number. It must be −∞: then a merge gives that part no "
    "share.",
    see=BLOCKED,
)
right.mistake(
    "a_row_of_nothing_is_plus_infinity",
    {"lse.masked_fill(empty, -torch.inf)": "lse.masked_fill(empty, torch.inf)"},
    loses="rows that see",
).feedback(
    "The log-sum-exp of a row that sees nothing is +∞. It is the logarithm of an empty sum, which is −∞: in a merge "
    "that side would get everything.",
    see=BLOCKED,
)
partial_attention.mistake("fills_with_a_fixed_number", loses=("scores up to", "rows that see")).full_code(
    FILLED + WAYS
).for_each(
    FOUND=[
        f"{way}(scores.masked_fill(mask, {fill}), value)" for fill in (-1e4, -1e3) for way in ("by_log_sum", "by_sum")
    ]
).feedback(
    "Blocked scores become a number such as −10,000. Real scores are that low here, and then blocked keys win; and a "
    "row that sees nothing sees everything.",
    see=BLOCKED,
)
partial_attention.mistake("rows_of_nothing_see_everything", loses="rows that see").full_code(FILLED + WAYS).for_each(
    FOUND=[
        f"{way}(scores.masked_fill(mask, {fill}), value)"
        for fill in (-1e9, -1e6, -1e12, "torch.finfo(scores.dtype).min")
        for way in ("by_log_sum", "by_sum")
    ]
).feedback(
    "In a row that sees nothing all scores are the same finite number, so that all keys get an equal weight. Its "
    "output must be 0, and its log-sum-exp −∞.",
    see=BLOCKED,
)
divided.mistake(
    "takes_the_maximum_of_blocked_scores",
    {"    highest = scores.amax(-1, keepdim=True).detach()\n": ""},
    loses="scores up to",
).patch("""
- if mask is not None:
+ highest = scores.amax(-1, keepdim=True).detach()
+ if mask is not None:
@@
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
- parts = torch.exp(scores - highest)
- total = parts.sum(-1, keepdim=True).masked_fill(empty, 1.0)
+ parts = torch.exp(scores - highest)
+ total = parts.sum(-1, keepdim=True)
+ empty = total == 0
+ total = total.masked_fill(empty, 1.0)
""").feedback(
    "The maximum is taken before blocked keys are blocked. Where one of those is far above the rest, all other "
    "exponentials are rounded to 0: block first.",
    see="1. One number for a whole row",
)
divided.mistake("one_maximum_for_all_rows", loses="scores up to").patch("""
- highest = scores.amax(-1, keepdim=True).detach()
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
+ empty = scores.isneginf().all(-1, keepdim=True)
+ highest = scores.detach().masked_fill(empty, -1e6).max()
""").feedback(
    "You subtract one maximum, that of the whole tensor. In a row far below it every exponential is rounded to 0: "
    "each row needs its own.",
    see="1. One number for a whole row",
)
divided.mistake("begins_with_a_maximum_of_0", loses="scores up to").patch("""
- highest = scores.amax(-1, keepdim=True).detach()
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
+ empty = scores.isneginf().all(-1, keepdim=True)
+ highest = scores.amax(-1, keepdim=True).detach().clamp(min=0.0)
""").feedback(
    "What you subtract is never below 0: where all scores of a row are far below, every exponential is rounded to 0. "
    "Subtract the largest score, whatever it is.",
    see="1. One number for a whole row",
)
divided.mistake(
    "adds_a_tiny_number",
    {".masked_fill(empty, 1.0)": " + EPS", ".masked_fill(empty, -torch.inf)": ""},
    loses="rows that see",
).for_each(EPS=(1e-9, 1e-12, 1e-8, 1e-10)).feedback(
    "You add a tiny number to the sum. It keeps −∞ away, which is just what a row that sees nothing should give.",
    see=BLOCKED,
)
divided.mistake(
    "takes_weights_for_constants", {"parts / total @": "(parts / total).detach() @"}, loses="gradients"
).feedback(
    "The output is right, its gradient is not: the weights are taken for constants (`detach`, `no_grad`), and "
    "queries and keys learn nothing from it."
)
partial_attention.mistake("subtracts_no_maximum", loses="scores up to").full_code("""
def partial_attention(query, key, value, mask=None):
    mask = torch.tensor(False) if mask is None else mask
    scores = query @ key.mT / key.shape[-1] ** 0.5
    parts = scores.masked_fill(mask, -torch.inf).exp()
    total = parts.sum(-1, keepdim=True)
    empty = EMPTY
    total = total.masked_fill(empty, 1.0)
    return parts / total @ value, total.log().masked_fill(empty, -torch.inf).squeeze(-1)
""").for_each(EMPTY=("mask.all(-1, keepdim=True) | torch.zeros_like(total, dtype=torch.bool)", "total == 0")).feedback(
    "The exponentials overflow, or are all rounded to 0. Subtract the largest score of a row before `exp`.",
    see="1. One number for a whole row",
)
right.mistake(
    "lets_no_gradient_through_the_log_sum_exp",
    {"-torch.inf).squeeze(-1)": "-torch.inf).squeeze(-1).detach()"},
    loses="gradients",
).feedback(
    "No gradient flows through the log-sum-exp. A merge takes its shares from it, and they change with the scores."
)
right.mistake(
    "takes_the_sum_for_a_constant", {"torch.exp(scores - lse)": "torch.exp(scores - lse.detach())"}, loses="gradients"
).feedback(
    "The output is right, its gradient is not: you take the sum of the exponentials for a constant (`detach`, "
    "`no_grad`, `.item()`), yet it changes with every score."
)
right.mistake(
    "reshapes_the_keys", {"key.mT": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=EVERYWHERE
).for_each(VIEW=("reshape", "view")).feedback(
    "You reshape the keys where they should be transposed. The shape comes out right, and the numbers stay in their "
    "old order."
)
right.mistake(
    "computes_in_float32",
    {"query @ key.mT": "query.float() @ key.float().mT", "@ value": "@ value.float()"},
    loses="float64",
).feedback("Float64 arguments must give float64 results: keep the dtype, and convert nothing to float32.")
divided.mistake("scales_the_queries_in_place", loses=("float64", "gradients")).patch("""
- scores = query @ key.mT / key.shape[-1] ** 0.5
+ with torch.no_grad():
+     query /= key.shape[-1] ** 0.5
+ scores = query @ key.mT
""").feedback("You scale the queries in place: the caller's are changed. Make new ones, or scale the scores.")
right.mistake(
    "turns_the_mask_round_in_place", {"else mask\n": "else ~mask.logical_not_()\n"}, loses="float64"
).feedback(
    "You turn the mask round in place: whoever handed it to you now holds its opposite. Make a new one with `~mask`."
)
right.mistake(
    "makes_a_mask_on_another_device",
    {"torch.tensor(False)": "torch.zeros(query.shape[-2], key.shape[-2], dtype=torch.bool)"},
    loses="float64",
).feedback("Without a mask you make one on PyTorch's default device. The queries may lie elsewhere: name their device.")
keeps_its_last_result(right, loses="without")
