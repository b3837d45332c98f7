"""Known mistakes in `merge`."""

from ...shared.families import arguments, gradients, numbers, results, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import merge

EVERYWHERE = ("two parts", "batches")  # what an answer loses whose every result is wrong
IDEA = "3. Two parts into one"
NOTHING = "Nothing, merged with something"

right = merge.reference_answer("""
def merge(output, lse, other_output, other_lse):
    highest = torch.maximum(lse, other_lse)
    highest = highest.masked_fill(highest.isneginf(), 0.0)
    mine, theirs = torch.exp(lse - highest), torch.exp(other_lse - highest)
    total = mine + theirs
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    top = mine[..., None] * output + theirs[..., None] * other_output
    return top / total[..., None], (highest + total.log()).masked_fill(empty, -torch.inf)
""")

right.mistake("ignores_a_side_that_is_far_below", loses="sums that lie").patch("""
  highest = torch.maximum(lse, other_lse)
+ lse = lse.masked_fill(lse < highest - LIMIT, -torch.inf)
+ other_lse = other_lse.masked_fill(other_lse < highest - LIMIT, -torch.inf)
""").for_each(LIMIT=(5.0, 8.0)).feedback(
    "You leave out a side whose log-sum-exp is far below the other's. Its share is small, but it is not 0: only a "
    "side of `-inf` changes nothing.",
    see=IDEA,
)
right.mistake(
    shapes.squeezed, {"return top / total[..., None],": "return (top / total[..., None]).squeeze(-1),"}, loses="batches"
).feedback(
    "You use `squeeze(-1)` on the output, which removes its last dimension where a value has one number. Remove only "
    "a dimension that you added yourself."
)
merge.mistake("takes_the_mean_of_outputs", loses=EVERYWHERE).full_code("""
def merge(output, lse, other_output, other_lse):
    return (output + other_output) / 2, torch.logaddexp(lse, other_lse)
""").feedback(
    "You take the mean of both outputs. A part whose keys fit better has more of the weight: its share is that of "
    "its sum of exponentials.",
    see=IDEA,
)
merge.mistake("adds_the_outputs", loses=EVERYWHERE).full_code("""
def merge(output, lse, other_output, other_lse):
    return output + other_output, torch.logaddexp(lse, other_lse)
""").feedback(
    "You add the outputs, but each was already divided by its own sum. Give both a share of the common one.", see=IDEA
)
merge.mistake("weighs_by_the_logarithms", loses=EVERYWHERE).full_code("""
def merge(output, lse, other_output, other_lse):
    mine, theirs = lse[..., None], other_lse[..., None]
    return (mine * output + theirs * other_output) / (mine + theirs), torch.logaddexp(lse, other_lse)
""").feedback(
    "You take the shares from the logarithms themselves, which may be negative. A share is that of the *sums*, the "
    "exponentials of the logarithms.",
    see=IDEA,
)
merge.mistake("subtracts_no_maximum", loses=("sums that lie", "a side that")).full_code("""
def merge(output, lse, other_output, other_lse):
    mine, theirs = lse.exp(), other_lse.exp()
    total = mine + theirs
    return (mine[..., None] * output + theirs[..., None] * other_output) / total[..., None], total.log()
""").feedback(
    "You compute the sums from their logarithms as they are, so they overflow, or are both rounded to 0. Subtract "
    "the larger of the two logarithms first.",
    see=IDEA,
)
merge.mistake("overflows", loses="sums that lie").full_code("""
def merge(output, lse, other_output, other_lse):
    mine, theirs = lse.exp(), other_lse.exp()
    total = mine + theirs
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    top = mine[..., None] * output + theirs[..., None] * other_output
    return top / total[..., None], total.log().masked_fill(empty, -torch.inf)
""").feedback(
    "You compute the sums from their logarithms as they are, which is right only for small numbers. Others overflow, "
    "or are both rounded to 0. Subtract the larger of the two logarithms first.",
    see=IDEA,
)
right.mistake(
    "exchanges_the_shares", {"top = mine": "top = theirs", "output + theirs": "output + mine"}, loses=EVERYWHERE
).feedback("You give each output the other one's share.", see=IDEA)
right.mistake("does_not_divide", {"top / total[..., None]": "top"}, loses=EVERYWHERE).feedback(
    "You do not divide the output by the common sum: the two shares have to add up to 1.", see=IDEA
)
right.mistake("returns_the_larger_logarithm", {"highest + total.log()": "highest"}, loses=EVERYWHERE).feedback(
    "You return the larger of the two log-sum-exps. The sums add up, so the log-sum-exp has to grow.", see=IDEA
)
right.mistake("adds_the_logarithms", {"highest + total.log()": "lse + other_lse"}, loses=EVERYWHERE).feedback(
    "You add the two logarithms, which gives the logarithm of the *product* of both sums.", see=IDEA
)
right.mistake("does_not_add_the_maximum", {"highest + total.log()": "total.log()"}, loses=EVERYWHERE).feedback(
    "Your output is right, but you do not add what you subtracted before `exp` to the logarithm again.", see=IDEA
)
right.mistake("returns_the_sum", {"highest + total.log()": "highest.exp() * total"}, loses=EVERYWHERE).feedback(
    "You return the sum of exponentials, not its logarithm.", see=IDEA
)
right.mistake(
    "takes_the_mean_of_sums", {"highest + total.log()": "highest + (total / 2).log()"}, loses=EVERYWHERE
).feedback("You return the logarithm of the *mean* of both sums. The sums add up.", see=IDEA)
right.mistake("keeps_the_first", {"top / total[..., None]": "output"}, loses=EVERYWHERE).feedback(
    "You return the output of the first side alone.", see=IDEA
)
right.mistake(
    "takes_the_better_side",
    {"top / total[..., None]": "torch.where((lse > other_lse)[..., None], output, other_output)"},
    loses=EVERYWHERE,
).feedback("You take the output of the side with the larger sum. Both sides count, by their shares.", see=IDEA)
right.mistake(
    "shares_do_not_line_up",
    {"mine[..., None]": "mine", "theirs[..., None]": "theirs", "total[..., None]": "TOTAL"},
    loses=EVERYWHERE,
).for_each(TOTAL=("total[..., None]", "total")).feedback(
    "Your shares (..., T) do not line up with outputs (..., T, V). Give them a last dimension, `[..., None]`."
)
right.mistake(
    "keeps_the_better_side",
    {
        "return top / total[..., None], (highest + total.log())": "first = lse >= other_lse\n    return "
        "torch.where(first[..., None], output, other_output), torch.maximum(lse, other_lse)"
    },
    loses=EVERYWHERE,
).feedback("You keep the side with the larger sum and drop the other one. Both sides count, by their shares.", see=IDEA)
right.mistake(
    "begins_with_a_maximum_of_0", {"(lse, other_lse)": "(lse, other_lse).clamp(min=0.0)"}, loses="sums that lie"
).feedback(
    "You never subtract less than 0, so both exponentials are rounded to 0 where the log-sum-exps are far below. "
    "Subtract the larger of the two, whatever it is.",
    see=IDEA,
)
right.mistake(
    "one_maximum_for_all",
    {"maximum(lse, other_lse)": "maximum(lse, other_lse).max().expand(lse.shape)", "total == 0": "EMPTY"},
    loses="sums that lie",
).for_each(EMPTY=("total == 0", "torch.maximum(lse, other_lse).isneginf()", "highest.isneginf()")).feedback(
    "You subtract the largest number of the whole tensor. Each query has its own."
)
right.mistake("both_sides_of_nothing_are_nan", loses=("a side that", "gradients")).patch("""
- highest = highest.masked_fill(highest.isneginf(), 0.0)
+ pass
""").feedback(
    "Your result is NaN where both sides saw nothing, because −∞ − (−∞) is undefined. Subtract 0 there.", see=NOTHING
)
right.mistake(
    "divides_nothing_by_nothing", {"    total = total.masked_fill(empty, 1.0)\n": ""}, loses=("a side", "gradients")
).feedback("You divide 0 by 0 where both sides saw nothing, which gives NaN. Divide by 1 there.", see=NOTHING)
merge.mistake("one_side_of_nothing_is_nan", loses=("a side that", "gradients")).full_code("""
def merge(output, lse, other_output, other_lse):
    SWAP
    share = torch.exp(lse - other_lse) / (1 + torch.exp(lse - other_lse))
    together = other_lse + torch.log1p(torch.exp(lse - other_lse))
    return share[..., None] * output + (1 - share)[..., None] * other_output, together
""").for_each(
    SWAP=("'the other is the measure'", "output, lse, other_output, other_lse = other_output, other_lse, output, lse")
).feedback(
    "You subtract one side's log-sum-exp from the other's, and the exponential of the difference can be infinite. "
    "This happens where the one that you subtract is −∞, or far below the other. Subtract the larger of the two from "
    "both.",
    see=NOTHING,
)
merge.mistake("takes_the_difference_of_nothing", loses=("a side that", "gradients")).full_code("""
def merge(output, lse, other_output, other_lse):
    share = torch.sigmoid(other_lse - lse)[..., None]
    return output - share * (output - other_output), lse - F.logsigmoid(lse - other_lse)
""").feedback(
    "You use only the difference of the two log-sum-exps, which is NaN where both are −∞. The result is right "
    "wherever both sides saw something, but −∞ − (−∞) is computed again where the first is −∞. Subtract a 0 there, "
    "and add the logarithm to the larger of the two.",
    see=NOTHING,
)
right.mistake("nothing_becomes_finite", {"empty, -torch.inf": "empty, FILL"}, loses="a side that").for_each(
    FILL=(0.0, -1e9, -1e4)
).feedback("You return a finite log-sum-exp where both sides saw nothing; it has to stay −∞.", see=NOTHING)
right.mistake(
    numbers.tiny_number_added(see=NOTHING), {"mine + theirs": "mine + theirs + EPS"}, loses="a side that"
).for_each(EPS=(1e-10, 1e-12, 1e-9, 1e-8))
right.mistake("nothing_becomes_plus_infinity", {"empty, -torch": "empty, torch"}, loses="a side that").feedback(
    "You return +∞ as the log-sum-exp of two sides that saw nothing. It is the logarithm of an empty sum, which is "
    "−∞. With +∞, the result would get everything in the next merge.",
    see=NOTHING,
)
right.mistake(gradients.nan_wiped_off(see=NOTHING), loses="gradients").patch("""
- highest = highest.masked_fill(highest.isneginf(), 0.0)
@@
- empty = total == 0
- total = total.masked_fill(empty, 1.0)
@@
- return top / total[..., None], (highest + total.log()).masked_fill(empty, -torch.inf)
+ return (top / total[..., None]).nan_to_num(), (highest + total.log()).nan_to_num(nan=-torch.inf, neginf=-torch.inf)
""")
right.mistake(gradients.cut(what="the log-sum-exp"), {"torch.inf)": "torch.inf).detach()"}, loses="gradients")
right.mistake(shapes.dimension_kept, {"(empty, -torch.inf)": "(empty, -torch.inf)[..., None]"}, loses=EVERYWHERE)
merge.mistake("one_query_of_nothing_decides_for_all", loses="a side that").full_code("""
def merge(output, lse, other_output, other_lse):
    if lse.isneginf().any():
        return other_output, other_lse
    if other_lse.isneginf().any():
        return output, lse
    together = torch.logaddexp(lse, other_lse)
    mine, theirs = (lse - together).exp(), (other_lse - together).exp()
    return mine[..., None] * output + theirs[..., None] * other_output, together
""").feedback(
    "You use the other side for all queries as soon as one query saw nothing on a side. Each query has its own shares.",
    see=NOTHING,
)
right.mistake(gradients.treated_as_constant(what="the shares", of="the log-sum-exps"), loses="gradients").patch("""
- top = mine[..., None] * output + theirs[..., None] * other_output
- return top / total[..., None], (highest + total.log()).masked_fill(empty, -torch.inf)
+ top = mine.detach()[..., None] * output + theirs.detach()[..., None] * other_output
+ return top / total.detach()[..., None], (highest + total.log()).masked_fill(empty, -torch.inf)
""")
right.mistake(results.weights_first(other="log-sum-exp"), loses=EVERYWHERE).patch("""
- return top / total[..., None], (highest + total.log()).masked_fill(empty, -torch.inf)
+ return (highest + total.log()).masked_fill(empty, -torch.inf), top / total[..., None]
""")
right.mistake(
    "returns_the_output_alone", {", (highest + total.log()).masked_fill(empty, -torch.inf)": ""}, loses=EVERYWHERE
).feedback("You return only the output. The result may be merged again, and that needs the log-sum-exp.")
right.mistake(numbers.result_float32(of="the arguments"), loses="float64")
right.mistake(arguments.argument_changed("writes_into_the_log_sum_exps"), loses="float64").patch("""
+ given, other_given = lse.clone(), other_lse.clone()
+ nothing = torch.maximum(lse, other_lse).isneginf()
+ with torch.no_grad():
+     lse[nothing] = 0.0
+     other_lse[nothing] = 0.0
+ lse, other_lse = given, other_given
  highest = torch.maximum(lse, other_lse)
""").feedback(
    "You overwrite −∞ in the log-sum-exps that you were given, so a later merge takes them for sums of 1. Make new "
    "ones, by `masked_fill` or `torch.where`."
)
right.mistake(
    "writes_into_the_output",
    {
        "top = mine[..., None] * output + theirs[..., None] * other_output": "kept = output.clone()\n    with "
        "torch.no_grad():\n        output *= mine[..., None]\n    top = mine[..., None] * kept + theirs[..., None] * "
        "other_output"
    },
    loses="float64",
).feedback("You write into the output that you were given (`*=`, `+=`, methods that end in `_`). Make a new tensor.")
keeps_its_last_result(right, loses="two parts")
