"""Known mistakes in `min_p`."""

from ...shared.families import arguments, gradients, numbers, results, scores, shapes
from .contract import min_p

KEPT, FORM, ERROR = "which tokens", "logits of", "ValueError"

right = min_p.reference_answer("""
def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, and must be from 0 to 1")
    probabilities = torch.softmax(logits, dim=-1)
    bound = p * probabilities.amax(dim=-1, keepdim=True)
    kept = probabilities.masked_fill(probabilities < bound, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
""")

right.mistake(
    "a_fixed_bound", {"p * probabilities.amax(dim=-1, keepdim=True)": "torch.full_like(probabilities, p)"}, loses=KEPT
).feedback(
    "You compare each probability with `p` itself. The bound is `p` times the probability of the most probable token."
)
right.mistake("a_fixed_bound_but_the_first", loses=KEPT).patch("""
- bound = p * probabilities.amax(dim=-1, keepdim=True)
+ bound = probabilities.amax(dim=-1, keepdim=True).clamp(max=p)
""").feedback(
    "You compare each probability with `p` itself and always keep the most probable token. The bound is `p` *times* "
    "the largest probability."
)
right.mistake("a_share_of_the_sum", loses=KEPT).patch("""
- bound = p * probabilities.amax(dim=-1, keepdim=True)
- kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ ordered, places = probabilities.sort(dim=-1, descending=True)
+ gone = (ordered.cumsum(dim=-1) - ordered >= p) & (ordered < ordered[..., :1])
+ kept = torch.zeros_like(ordered).scatter(-1, places, ordered.masked_fill(gone, 0.0))
""").feedback(
    "You add probabilities up to a share of `p`, as top-p does. Here each token is compared with the most probable one."
)
right.mistake(
    "compares_logits", {"probabilities < bound": "logits < p * logits.amax(dim=-1, keepdim=True)"}, loses=KEPT
).feedback(
    "You compare logits instead of probabilities. A constant added to all logits changes their ratios, but no "
    "probability."
)
right.mistake(
    "a_difference_of_logits", {"probabilities < bound": "logits < logits.amax(dim=-1, keepdim=True) - p"}, loses=KEPT
).feedback(
    "You subtract `p` from the largest logit. `p` is a ratio of two probabilities, and a difference of logits is the "
    "logarithm of such a ratio."
)
right.mistake(
    "a_bound_from_the_difference",
    {"p * probabilities.amax(dim=-1, keepdim=True)": "probabilities.amax(dim=-1, keepdim=True) - p"},
    loses=KEPT,
).feedback("You subtract `p` from the largest probability. The bound is `p` *times* the largest probability.")
right.mistake("a_bound_from_the_rest", {"p * probabilities": "(1 - p) * probabilities"}, loses=KEPT).feedback(
    "Your bound is `1 - p` times the largest probability. The bound is `p` times it: a larger `p` keeps fewer tokens."
)
right.mistake("the_other_way_round", {"probabilities < bound": "DROPPED"}, loses=KEPT).for_each(
    DROPPED=(
        "probabilities >= bound",
        "probabilities > bound",
        "(probabilities >= bound) & (probabilities != probabilities.amax(dim=-1, keepdim=True))",
        "(probabilities > bound) & (probabilities != probabilities.amax(dim=-1, keepdim=True))",
    )
).feedback("You keep the tokens below the bound and drop those above it. Keep the tokens that reach the bound.")
right.mistake("drops_what_equals_the_bound", {"probabilities < bound": "probabilities <= bound"}, loses=KEPT).feedback(
    "You drop tokens that equal the bound. With `p` = 1 that is the most probable token itself: *at least* `p` times "
    "its probability is enough."
)
right.mistake("compares_with_another", {"probabilities.amax(dim=-1, keepdim=True)": "OTHER"}, loses=KEPT).for_each(
    OTHER=(
        "probabilities.mean(dim=-1, keepdim=True)",
        "probabilities.median(dim=-1, keepdim=True).values",
    )
).feedback("You compare with the mean or the median of the probabilities. The bound is `p` times the *largest* one.")
right.mistake("keeps_one_of_equals", loses=KEPT).patch("""
- kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ place = torch.arange(logits.shape[-1], device=logits.device)
+ best = probabilities.argmax(dim=-1, keepdim=True)
+ kept = kept.masked_fill((kept == kept.gather(-1, best)) & (place != best), 0.0)
""").feedback("You keep only one of several tokens that are equally probable. Keep all that reach the bound.")
right.mistake("not_rescaled", {"kept / kept.sum(dim=-1, keepdim=True)": "kept"}, loses=KEPT).feedback(
    "You do not rescale, so the probabilities that remain do not sum to 1. Divide them by their sum."
)
right.mistake(
    "softmax_of_probabilities", {"kept / kept.sum(dim=-1, keepdim=True)": "torch.softmax(kept, dim=-1)"}, loses=KEPT
).feedback("You apply softmax to probabilities, so the dropped tokens get a share again. Divide by the sum.")
right.mistake(
    "zeroes_the_logits",
    {"kept / kept.sum(dim=-1, keepdim=True)": "torch.softmax(logits.masked_fill(probabilities < bound, 0.0), dim=-1)"},
    loses=KEPT,
).feedback(
    "You set the logits of dropped tokens to 0. A logit of 0 still gives a probability above 0; a logit of −∞ gives 0."
)
right.mistake(
    "returns_logits",
    {"kept / kept.sum(dim=-1, keepdim=True)": "logits.masked_fill(probabilities < bound, -torch.inf)"},
    loses=KEPT,
).feedback("You return logits, with −∞ for the dropped tokens. Return probabilities.")
right.mistake(
    "returns_a_mask", {"kept / kept.sum(dim=-1, keepdim=True)": "(probabilities >= bound).to(logits.dtype)"}, loses=KEPT
).feedback("You return 1 for a kept token and 0 for any other. Return the kept tokens' probabilities, rescaled.")
right.mistake(
    "softmax_over_rows", {"torch.softmax(logits, dim=-1)": "torch.softmax(logits, dim=0)"}, loses=KEPT
).feedback("Your softmax runs along the first dimension. The tokens are in the last dimension.")
right.mistake("one_maximum_for_all_rows", loses=KEPT).patch("""
- bound = p * probabilities.amax(dim=-1, keepdim=True)
- kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ bound = p * probabilities.max()
+ kept = probabilities.masked_fill(DROPPED, 0.0)
""").for_each(
    DROPPED=(
        "probabilities < bound",
        "(probabilities < bound) & (probabilities != probabilities.amax(dim=-1, keepdim=True))",
    )
).feedback("You take the largest probability of all rows together. Each row has its own.")
right.mistake(
    shapes.dimension_lost("forgets_keepdim_at_the_maximum"),
    {"probabilities.amax(dim=-1, keepdim=True)": "probabilities.amax(dim=-1)"},
    loses=KEPT,
)
right.mistake("rescales_by_everything", {"kept.sum(dim=-1, keepdim=True)": "kept.sum()"}, loses=KEPT).feedback(
    "You divide by the sum of all rows together. Each row sums to 1 by itself: sum over the last dimension."
)
right.mistake(shapes.result_squeezed, loses=KEPT)
right.mistake(
    scores.softmax_twice,
    {"torch.softmax(logits, dim=-1)": "torch.softmax(torch.softmax(logits, dim=-1), dim=-1)"},
    loses=KEPT,
).feedback("You apply softmax twice, which makes the probabilities nearly equal. Apply it once, to the logits.")
right.mistake(
    "exponentials_overflow",
    {"torch.softmax(logits, dim=-1)": "torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)"},
    loses=FORM,
).feedback(
    "Large logits give NaN, because `exp` of a number above 88.7 overflows in float32. `torch.softmax` subtracts the "
    "largest logit first."
)
right.mistake(arguments.not_refused("You do not raise a ValueError for a `p` below 0 or above 1."), loses=ERROR)
right.mistake(
    arguments.unchecked("refuses_one_side_only"), {"not 0 <= p <= 1": "SIDE"}, loses=ERROR, clause="share"
).for_each(SIDE=("p > 1", "p < 0")).feedback(
    "You refuse a `p` that is too large or one that is too small, but not both. It has to be from 0 to 1."
)
# One mistake, since a ValueError of the learner's own is compared by its type, which `math.log(0)` raises as well
right.mistake(arguments.valid_refused("refuses_an_end"), {"not 0 <= p <= 1": "not ENDS"}, loses=(KEPT, ERROR)).for_each(
    ENDS=("0 < p <= 1", "0 <= p < 1", "0 < p < 1", "0 <= p <= 1 or math.log(p) > 0")
).feedback(
    "Your function raises an error for a `p` of 0 or of 1. Both are valid: 0 keeps every token, 1 only the most "
    "probable. Python's `math.log` has no value for 0."
)
right.mistake(arguments.asserts(), loses=ERROR)
right.mistake(arguments.wrong_error("TypeError"), loses=ERROR)
right.mistake(arguments.error_without_name(), loses=ERROR)
right.mistake(arguments.argument_changed("fills_the_logits", what="`logits`"), loses=KEPT).patch("""
- return kept / kept.sum(dim=-1, keepdim=True)
+ return torch.softmax(logits.detach().masked_fill_(kept == 0, float("-inf")) + 0 * kept, dim=-1)
""").feedback(
    "You write −∞ into the caller's logits. Methods that end in `_` change a tensor in place: use `masked_fill`."
)
right.mistake(
    gradients.cut("cuts_gradients_off", what="the logits"),
    {"torch.softmax(logits, dim=-1)": "torch.softmax(logits.detach(), dim=-1)"},
    loses=FORM,
)
right.mistake(
    gradients.treated_as_constant(what="the sum of what is kept", of="the logits"),
    {"kept / kept.sum(dim=-1, keepdim=True)": "kept / kept.sum(dim=-1, keepdim=True).detach()"},
    loses=FORM,
)
right.mistake(numbers.computed_in_float32, loses=FORM)
right.mistake(numbers.result_float32, loses=FORM)
right.mistake("compares_logits_but_the_first", loses=KEPT).patch("""
- kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ most = logits.amax(dim=-1, keepdim=True)
+ kept = probabilities.masked_fill((logits < p * most) & (logits < most), 0.0)
""").feedback(
    "You compare logits instead of probabilities. A constant added to all logits changes their ratios, but no "
    "probability."
)
right.mistake(
    "softmax_of_what_is_kept",
    {"kept / kept.sum(dim=-1, keepdim=True)": "torch.softmax(kept.masked_fill(kept == 0, -torch.inf), dim=-1)"},
    loses=KEPT,
).feedback("You apply softmax to the probabilities that are kept, which makes them nearly equal. Divide by their sum.")
right.mistake(
    "makes_the_kept_ones_equal",
    {"kept / kept.sum(dim=-1, keepdim=True)": "KEPT"},
    loses=KEPT,
).for_each(
    KEPT=(
        "(kept > 0).to(logits.dtype) / (kept > 0).sum(dim=-1, keepdim=True)",
        "(kept > 0).to(logits.dtype) / (kept > 0).sum(dim=-1, keepdim=True) + 0 * probabilities",
    )
).feedback("You give all kept tokens the same probability. Divide their own probabilities by their sum.")
right.mistake(arguments.argument_changed("fills_the_logits_without_gradients", what="`logits`"), loses=KEPT).patch("""
- return kept / kept.sum(dim=-1, keepdim=True)
+ FILL
+ return torch.softmax(logits, dim=-1)
""").for_each(
    FILL=(
        "logits.data[probabilities < bound] = -torch.inf",
        "logits[probabilities < bound] = -torch.inf",
        "logits.reshape(-1, logits.shape[-1]).masked_fill_((probabilities < bound).flatten(0, -2), -torch.inf)",
    )
).feedback("You write −∞ into the caller's logits. Assigning to entries changes a tensor in place: use `masked_fill`.")
right.mistake(results.nothing_returned, {"return kept / kept.sum": "kept / kept.sum"}, loses=KEPT)
right.mistake(
    "clamps_at_the_bound", {"probabilities.masked_fill(probabilities < bound, 0.0)": "CLAMPED"}, loses=KEPT
).for_each(
    CLAMPED=(
        "torch.maximum(probabilities, bound)",
        "torch.maximum(probabilities, bound.detach())",
        "torch.minimum(probabilities, bound)",
    )
).feedback(
    "You set probabilities to the bound, so no token is dropped. A token below the bound gets the probability 0, and "
    "the others keep theirs until you rescale."
)
right.mistake(
    "subtracts_the_bound",
    {"probabilities.masked_fill(probabilities < bound, 0.0)": "torch.relu(probabilities - bound)"},
    loses=KEPT,
).feedback(
    "You subtract the bound from each probability that is kept. The bound only decides which tokens stay; divide "
    "their whole probabilities by their sum."
)
right.mistake(
    "rescales_by_the_largest", {"kept.sum(dim=-1, keepdim=True)": "kept.amax(dim=-1, keepdim=True)"}, loses=KEPT
).feedback("You divide by the largest probability, so the row does not sum to 1. Divide by the sum of what is kept.")
right.mistake("maximum_along_the_first_dimension", loses=KEPT).patch("""
- bound = p * probabilities.amax(dim=-1, keepdim=True)
- kept = probabilities.masked_fill(probabilities < bound, 0.0)
+ bound = p * probabilities.amax(dim=0)
+ kept = probabilities.masked_fill(DROPPED, 0.0)
""").for_each(
    DROPPED=(
        "probabilities < bound",
        "(probabilities < bound) & (probabilities != probabilities.amax(dim=-1, keepdim=True))",
    )
).feedback(
    "You take the largest probability along the first dimension. That compares tokens of different rows: the tokens "
    "of one row are in the last dimension."
)
right.mistake(
    "rescales_along_the_first_dimension", {"kept.sum(dim=-1, keepdim=True)": "kept.sum(dim=0)"}, loses=KEPT
).feedback("You sum along the first dimension. Each row sums to 1 by itself: sum over the last dimension.")
right.mistake("takes_logits_for_probabilities", {"torch.softmax(logits, dim=-1)": "logits"}, loses=KEPT).feedback(
    "You use the logits as if they were probabilities. Apply softmax first."
)
right.mistake("keeps_every_token", {"probabilities.amax": "probabilities.amin"}, loses=KEPT).feedback(
    "You keep every token. Drop those whose probability is below `p` times the *largest* one of their row."
)
right.mistake(
    "returns_log_probabilities",
    {"return kept / kept.sum(dim=-1, keepdim=True)": "return (kept / kept.sum(dim=-1, keepdim=True)).log()"},
    loses=KEPT,
).feedback("You return the logarithms of the probabilities. Return the probabilities themselves.")
right.mistake(
    "returns_token_ids",
    {"return kept / kept.sum(dim=-1, keepdim=True)": "return torch.multinomial(kept.reshape(-1, kept.shape[-1]), 1)"},
    loses=KEPT,
).feedback("You draw a token. Return the distribution from which it would be drawn.")
right.mistake(
    "loses_the_leading_dimensions",
    {"kept / kept.sum(dim=-1, keepdim=True)": "(kept / kept.sum(dim=-1, keepdim=True)).reshape(-1, kept.shape[-1])"},
    loses=KEPT,
).feedback("You lose the leading dimensions: your result is `(rows, N)`. It has to have the shape of `logits`.")
right.mistake(
    gradients.overwritten_before_backward(what="the probabilities"),
    {"probabilities.masked_fill(": "probabilities.masked_fill_("},
    loses=FORM,
)
right.mistake(numbers.result_float64, loses=FORM)
right.mistake("works_along_the_first_dimension", loses=KEPT).patch("""
- probabilities = torch.softmax(logits, dim=-1)
- bound = p * probabilities.amax(dim=-1, keepdim=True)
+ probabilities = torch.softmax(logits, dim=0)
+ bound = p * probabilities.amax(dim=0)
@@
- return kept / kept.sum(dim=-1, keepdim=True)
+ return kept / kept.sum(dim=0)
""").feedback("You work along the first dimension throughout. The tokens are in the last dimension, `dim=-1`.")
right.mistake(
    "leaves_traces",
    {"return kept / kept.sum(dim=-1, keepdim=True)": "return (kept / kept.sum(dim=-1, keepdim=True)).clamp(min=1e-12)"},
    loses=KEPT,
    clause="zeros",
).feedback("You leave a tiny probability to tokens that are not kept. Theirs is exactly 0, so that none is ever drawn.")
