"""Known mistakes in `logsumexp_of`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import logsumexp_of

EVERYWHERE = ("the logarithm", "many rows", "scores of any")  # what an answer loses whose every result is wrong
SHIFT = "1. One number for a whole row"
EMPTY = "A row of nothing"

right = logsumexp_of.reference_answer("""
def logsumexp_of(scores):
    highest = scores.amax(-1, keepdim=True)
    empty = highest.isneginf()
    highest = highest.masked_fill(empty, 0.0)
    total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
    return (highest + total.log()).masked_fill(empty, -torch.inf).squeeze(-1)
""")
ready_made = logsumexp_of.reference_answer("""
def logsumexp_of(scores):
    empty = scores.isneginf().all(-1, keepdim=True)
    return torch.logsumexp(scores.masked_fill(empty, 0.0), -1).masked_fill(empty.squeeze(-1), -torch.inf)
""")

logsumexp_of.mistake(numbers.exponentials_overflow("subtracts_no_maximum"), loses="scores of any").full_code("""
def logsumexp_of(scores):
    empty = scores.isneginf().all(-1)
    return scores.masked_fill(empty[..., None], 0.0).exp().sum(-1).log().masked_fill(empty, -torch.inf)
""").feedback(
    "Your exponentials overflow from 88.7 on, and are all rounded to 0 below −104. Subtract the largest score of a "
    "row first, and add it to the logarithm.",
    see=SHIFT,
)
logsumexp_of.mistake("subtracts_no_maximum_and_ignores_empty_rows", loses=("scores of any", "gradients")).full_code("""
def logsumexp_of(scores):
    return scores.exp().sum(-1).log()
""").feedback(
    "You compute the formula as it is written, and it overflows from 88.7 on. Subtract the largest score of a row "
    "first, and add it to the logarithm. Also handle rows of nothing but −∞, whose gradient is NaN.",
    see=SHIFT,
)
right.mistake("does_not_add_the_maximum", {"highest + total": "total"}, loses=EVERYWHERE).feedback(
    "You subtract the largest score but do not add it again, so you return the logarithm of the shifted sum.",
    see=SHIFT,
)
right.mistake(
    "subtracts_the_maximum_again", {"(highest + total.log())": "(total.log() - highest)"}, loses=EVERYWHERE
).feedback(
    "You subtract the largest score from the logarithm. It has to be *added*: it was taken out of every exponential.",
    see=SHIFT,
)
right.mistake("returns_the_maximum", {"highest + total.log()": "highest"}, loses=EVERYWHERE).feedback(
    "You return the largest score. It is close when one score leads by far, but the logarithm of the sum is missing.",
    see=SHIFT,
)
right.mistake("returns_the_sum", {"total.log()": "total"}, loses=EVERYWHERE).feedback(
    "You add the sum itself to the largest score, not its logarithm.", see=SHIFT
)
right.mistake(
    "multiplies_by_the_maximum", {"highest + total.log()": "highest * total.log()"}, loses=EVERYWHERE
).feedback("You multiply the logarithm by the largest score. The logarithm of a product is a *sum*.", see=SHIFT)
logsumexp_of.mistake("forgets_the_logarithm", loses=EVERYWHERE).full_code("""
def logsumexp_of(scores):
    return scores.exp().sum(-1)
""").feedback(
    "You return the sum of the exponentials, not its logarithm. To keep the sum small, subtract the largest score of "
    "a row first.",
    see=SHIFT,
)
right.mistake("begins_with_a_fixed_maximum", loses="scores of any").patch("""
- empty = highest.isneginf()
- highest = highest.masked_fill(empty, 0.0)
+ highest, empty = highest.clamp(min=LEAST), scores.isneginf().all(-1, keepdim=True)
""").for_each(LEAST=(0.0, -1e9, -1e4)).feedback(
    "You start the maximum from a fixed number such as 0 or −1e9, so you never subtract less than that. Where all "
    "scores of a row are further below, every exponential is rounded to 0. Start from the first score, or from −∞.",
    see=SHIFT,
)
right.mistake("takes_the_mean", {".sum(-1, ": ".mean(-1, "}, loses=EVERYWHERE).feedback(
    "You take the mean of the exponentials instead of their sum. The result is too small by the logarithm of their "
    "number."
)
right.mistake("takes_another_logarithm", {".log()": ".LOG()"}, loses=EVERYWHERE).for_each(
    LOG=("log10", "log2", "log1p")
).feedback(
    "You use a logarithm other than the natural one, such as `log10`, `log2` or `log1p`. Only `torch.log` undoes `exp`."
)
right.mistake(numbers.one_maximum_for_all(see=SHIFT), loses="many rows").patch("""
- highest = scores.amax(-1, keepdim=True)
+ highest = scores.max() + torch.zeros_like(scores[..., :1])
""")
right.mistake("sums_over_everything", {"sum(-1, keepdim=True)": "sum()"}, loses="many rows").feedback(
    "You sum over the whole tensor. Each row along the last dimension has its own result."
)
right.mistake(
    "works_along_the_first_dimension",
    {"amax(-1": "amax(0", "sum(-1": "sum(0", "squeeze(-1)": "squeeze(0)"},
    loses="many rows",
).feedback("You sum over the first dimension. The scores of a row are along the last one.")
right.mistake(
    "works_along_dimension_1",
    {"amax(-1": "amax(1", "sum(-1": "sum(1", "squeeze(-1)": "squeeze(1)"},
    loses=("the logarithm", "many rows"),
).feedback(
    "You sum over dimension 1, which a single row does not have and which is not the last one of a batch. Count from "
    "the end: `-1`."
)
right.mistake("keeps_the_dimension", {".squeeze(-1)": ""}, loses=EVERYWHERE).feedback(
    "You leave a last dimension of 1 in the result. Scores (..., S) give a result (...)."
)
right.mistake(shapes.dimension_lost, {"scores.amax(-1, keepdim=True)": "scores.amax(-1)"}, loses="many rows")
logsumexp_of.mistake("rows_of_nothing_are_nan", loses=("minus infinity", "gradients")).full_code("""
def logsumexp_of(scores):
    highest = scores.amax(-1, keepdim=True)
    return (highest + torch.exp(scores - highest).sum(-1, keepdim=True).log()).squeeze(-1)
""").feedback(
    "Your result is NaN for a row of nothing but −∞, because −∞ − (−∞) is undefined. Where the largest score is −∞, "
    "subtract 0.",
    see=EMPTY,
)
logsumexp_of.mistake("wipes_nan_off", loses="gradients").full_code("""
def logsumexp_of(scores):
    highest = scores.amax(-1, keepdim=True)
    result = (highest + torch.exp(scores - highest).sum(-1, keepdim=True).log()).squeeze(-1)
    return result.nan_to_num(nan=-torch.inf, neginf=-torch.inf)
""").feedback(
    "Your values are right, but the gradient is NaN in a row of nothing but −∞. Either −∞ − (−∞) was computed and "
    "replaced at the end, or the logarithm of 0 was taken, whose slope is infinite. Subtract 0 there, and take the "
    "logarithm of 1.",
    see=EMPTY,
)
right.mistake(
    "a_row_of_nothing_is_finite", {"masked_fill(empty, -torch.inf)": "masked_fill(empty, FILL)"}, loses="minus infinity"
).for_each(FILL=(0.0, -1e9, -1e4, -3.4028234663852886e38)).feedback(
    "Your result is a finite number for a row of nothing but −∞. The sum of such a row is 0, and the logarithm of 0 "
    "is −∞.",
    see=EMPTY,
)
right.mistake(numbers.tiny_number_added(see=EMPTY), loses=("minus infinity",)).patch("""
- total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
- return (highest + total.log()).masked_fill(empty, -torch.inf).squeeze(-1)
+ total = torch.exp(scores - highest).sum(-1, keepdim=True)
+ return (highest + (total + EPS).log()).squeeze(-1)
""").for_each(EPS=(1e-9, 1e-12, 1e-8, 1e-10))
right.mistake("takes_minus_infinity_for_a_low_score", loses="minus infinity").patch("""
  def logsumexp_of(scores):
+     given, scores = scores, scores.masked_fill(scores.isneginf(), FILL)
      highest = scores.amax(-1, keepdim=True)
-     empty = highest.isneginf()
+     empty = given.isneginf().all(-1, keepdim=True)
""").for_each(FILL=(-1e3, -1e4)).feedback(
    "You turn a score of −∞ into a low, finite one (such as −10,000). Its exponential adds something where the other "
    "scores are as low. It should add nothing.",
    see=EMPTY,
)
right.mistake(
    "takes_minus_infinity_for_zero",
    {"logsumexp_of(scores):": "logsumexp_of(scores):\n    scores = scores.nan_to_num(neginf=0.0)"},
    loses="minus infinity",
).feedback("You turn a score of −∞ into a score of 0, whose exponential is 1. It should add nothing.", see=EMPTY)
right.mistake("returns_the_weights", {".squeeze(-1)": "", "return (": "return scores - ("}, loses=EVERYWHERE).feedback(
    "You subtract the log-sum-exp from the scores, which gives the log-softmax. Return the log-sum-exp alone."
)
ready_made.mistake(numbers.result_float32(of="the scores"), loses="float64")
ready_made.mistake(numbers.result_float64(of="the scores"), loses="float64")
ready_made.mistake(gradients.cut(what="the scores"), {"0.0), -1)": "0.0), -1).detach()"}, loses="gradients")
right.mistake(
    gradients.treated_as_constant(what="the logarithm of the sum"), {"log()": "log().detach()"}, loses="gradients"
)
right.mistake("detaches_the_maximum_in_one_place", loses="gradients").patch("""
- total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
- return (highest + total.log()).masked_fill(empty, -torch.inf).squeeze(-1)
+ inside, outside = PLACES
+ total = torch.exp(scores - inside).sum(-1, keepdim=True).masked_fill(empty, 1.0)
+ return (outside + total.log()).masked_fill(empty, -torch.inf).squeeze(-1)
""").for_each(PLACES=("highest.detach(), highest", "highest, highest.detach()")).feedback(
    "You detach the largest score in only one of the two places where you use it. It is subtracted and added again, "
    "so that its gradients cancel: detach it in both places, or in neither."
)
right.mistake(arguments.argument_changed("overwrites_minus_infinity"), loses="float64").patch("""
+ given = scores
+ scores = scores.clone()
+ with torch.no_grad():
+     given.masked_fill_(given.isneginf(), FILL)
  highest = scores.amax(-1, keepdim=True)
""").for_each(FILL=("torch.finfo(scores.dtype).min", -1e9)).feedback(
    "You overwrite −∞ in the scores that you were given: for the caller a blocked key then has only a low score. "
    "Make new ones, by `masked_fill` or `torch.where`.",
    see=EMPTY,
)
right.mistake(arguments.argument_changed(what="the scores"), loses="float64").patch("""
- total = torch.exp(scores - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
+ with torch.no_grad():
+     kept = scores.clone()
+     scores -= highest
+ total = torch.exp(kept - highest).sum(-1, keepdim=True).masked_fill(empty, 1.0)
""")
right.mistake("squeezes_every_dimension", {".squeeze(-1)": ".squeeze()"}, loses="many rows").feedback(
    "You use `.squeeze()`, which removes every dimension of size 1: one too many if there is only one row. Remove "
    "only the last: `.squeeze(-1)`."
)
right.mistake(
    "a_gap_empties_the_row", {"highest.isneginf()": "scores.isneginf().any(-1, keepdim=True)"}, loses="minus infinity"
).feedback(
    "You return −∞ as soon as one score of a row is −∞. Such a score adds nothing; the result is −∞ only where *all* "
    "are.",
    see=EMPTY,
)
right.mistake("a_row_of_nothing_is_plus_infinity", {"empty, -torch": "empty, torch"}, loses="minus infinity").feedback(
    "You return +∞ for a row of nothing but −∞. It is the logarithm of an empty sum, which is −∞.", see=EMPTY
)
logsumexp_of.mistake("subtracts_something_else", loses="scores of any").full_code("""
def logsumexp_of(scores):
    empty = scores.isneginf().all(-1, keepdim=True)
    scores = scores.masked_fill(empty, 0.0)
    level = LEVEL
    result = level + torch.exp(scores - level).sum(-1, keepdim=True).log()
    return result.masked_fill(empty, -torch.inf).squeeze(-1)
""").for_each(
    LEVEL=[
        f"scores.{least}(-1, keepdim=True){open_}"
        for least in ("amin", "mean")
        for open_ in ("", ".nan_to_num(neginf=0.0)")
    ]
).feedback(
    "You subtract something other than the largest score of the row. Exponentials of larger scores still overflow, "
    "and a −∞ among the scores makes it −∞.",
    see=SHIFT,
)
right.mistake(numbers.computed_in_float32, loses="float64")
keeps_its_last_result(right, loses="the logarithm")
logsumexp_of.mistake("takes_the_logarithm_first", loses=EVERYWHERE).full_code("""
def logsumexp_of(scores):
    return scores.exp().log().sum(-1)
""").feedback(
    "You take the logarithm of each exponential, which undoes it, so you return the sum of the scores. Sum the "
    "exponentials first, then take one logarithm.",
    see=SHIFT,
)
