"""Known mistakes in `entropy`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import entropy

EVERYWHERE = ("the average", "many lists")  # what an answer loses whose every result is wrong
ENTROPY = "7. Entropy: how many words share the attention"

right = entropy.reference_answer("""
def entropy(p, dim=-1):
    return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim)
""")

by_terms = entropy.reference_answer("""
def terms(p):
    return -p * torch.log(torch.where(p > 0, p, 1.0))


def entropy(p, dim=-1):
    return terms(p).sum(dim)
""")

right.mistake(
    "multiplies_zero_by_infinity", {"torch.where(p > 0, p, 1.0)": "p"}, loses="weights", clause="zeros"
).feedback(
    "A weight of 0 gives NaN, because `0 * log(0)` is computed as 0 times −∞. Its contribution must be 0.", see=ENTROPY
)
right.mistake("forgets_the_minus", {"-(p": "(p"}, loses="the average").feedback(
    "You leave out the minus sign, so your entropy is negative. Logarithms of weights are never positive, and "
    "entropy is never negative.",
    see=ENTROPY,
)
right.mistake("measures_in_bits", {"torch.log": "torch.log2"}, loses="the average").feedback(
    "You measure in bits, with `log2`. Measure in nats, with the natural logarithm, `torch.log`.", see=ENTROPY
)
right.mistake("takes_logarithms_to_the_base_ten", {"torch.log": "torch.log10"}, loses="the average").feedback(
    "You take logarithms to base 10. Take the natural logarithm, `torch.log`.", see=ENTROPY
)
right.mistake("takes_the_mean", {".sum(": ".mean("}, loses="the average").feedback(
    "You take a mean instead of a sum, so the entropy is divided by the number of weights. The weights are already "
    "the shares of this average, so you only have to add up.",
    see=ENTROPY,
)
by_terms.mistake("adds_the_surprises", {"-p * torch": "-torch"}, loses="the average").feedback(
    "You add the surprises without weighting them. Each surprise counts as often as it happens, so it is "
    "multiplied by its weight.",
    see=ENTROPY,
)
by_terms.mistake("returns_the_contributions", {"(p).sum(dim)": "(p)"}, loses=EVERYWHERE).feedback(
    "You return the contribution of each weight, but not their sum."
)
right.mistake("adds_up_everything", {"(dim)": "()"}, loses="many lists").feedback(
    "You sum over the whole tensor and get a single number. Sum along `dim` only: one entropy per list.",
    see="4. Which dimension?",
)
right.mistake("averages_over_the_batch", {"(dim)": "(dim).mean()"}, loses="many lists").feedback(
    "You average over the lists of the batch. Each list has its own entropy."
)
right.mistake(shapes.dimension_ignored(see="4. Which dimension?"), {"(dim)": "(-1)"}, loses="many lists", clause="dim")
right.mistake("sums_along_the_first_dimension", {"(dim)": "(0)"}, loses="many lists").feedback(
    "You always sum along the first dimension and ignore `dim`.", see="4. Which dimension?"
)
right.mistake(shapes.first_dimension(see="4. Which dimension?"), {"dim=-1": "dim=0"}, loses="many lists")
right.mistake("keeps_the_dimension", {"(dim)": "(dim, keepdim=True)"}, loses=EVERYWHERE).feedback(
    "You keep the dimension that you sum over, with size 1. It should be gone: leave out `keepdim`."
)
right.mistake(shapes.squeezed, {"(dim)": "(dim, keepdim=True).squeeze()"}, loses="many lists")
by_terms.mistake("returns_the_number_of_words", {"(dim)": "(dim).exp()"}, loses="the average").feedback(
    "You return e to the power of the entropy, the number of words that share the attention. Return the entropy.",
    see=ENTROPY,
)
by_terms.mistake(
    "divides_by_the_greatest", {"(dim)": "(dim) / math.log(max(p.shape[dim], 2))"}, loses="the average"
).feedback(
    "You divide by ln(n), so the largest entropy is 1. Return nats, in which the largest entropy is ln(n).",
    see=ENTROPY,
)
entropy.mistake("takes_weights_for_scores", loses="the average").full_code("""
def entropy(p, dim=-1):
    weights = torch.softmax(p, dim)
    return -(weights * weights.log()).sum(dim)
""").feedback(
    "You apply softmax to `p` first, as if it held scores. It holds weights already: they sum to 1 along `dim`."
)
by_terms.mistake(
    "one_zero_hides_the_list", {"terms(p).sum(dim)": "torch.nan_to_num(-(p * torch.log(p)).sum(dim))"}, loses="weights"
).feedback(
    "One weight of 0 makes its whole list NaN, and you replace that by 0. The entropy of (½, ½, 0) is ln 2, not 0. "
    "Replace the *contribution* of a zero, before the sum.",
    see=ENTROPY,
)
right.mistake("adds_a_constant_inside", {"torch.where(p > 0, p, 1.0)": "p + EPS"}, loses="gradients at tiny").for_each(
    EPS=(1e-8, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5)
).feedback(
    "You add a small constant inside the logarithm, so the gradient is wrong for weights smaller than it. The "
    "constant keeps the logarithm finite, but changes it. Treat exactly 0 separately instead."
)
right.mistake(
    "cuts_weights_off", {"torch.where(p > 0, p, 1.0)": "p.clamp(min=EPS)"}, loses="gradients at tiny", clause="tiny"
).for_each(EPS=(1e-8, 1e-10, 1e-9, 1e-7, 1e-6, 1e-5)).feedback(
    "You cut weights off at a small number before the logarithm, so the gradient is wrong below it. Treat exactly "
    "0 separately instead."
)
by_terms.mistake(numbers.always_float32(of="`p`"), {"(p).sum(dim)": "(p.float()).sum(dim)"}, loses="float64")
by_terms.mistake(gradients.cut(what="`p`"), {"(p).sum(dim)": "(p.detach()).sum(dim)"}, loses="gradients")
right.mistake(gradients.treated_as_constant(what="the surprise", of="the weight"), loses="gradients").patch("""
- return -(p * torch.log(torch.where(p > 0, p, 1.0))).sum(dim)
+ return -(p * torch.log(torch.where(p > 0, p, 1.0)).detach()).sum(dim)
""")
right.mistake(
    "drops_the_sign_of_each_term", {"-(p": "(p", ".sum(dim)": ".abs().sum(dim)"}, loses="gradients at tiny"
).feedback(
    "A weight of 1 gets the gradient 0, because its term is 0, where `abs` has a corner. The values are right.",
    see=ENTROPY,
)
entropy.mistake(arguments.argument_changed(what="`p`"), loses="arguments").full_code("""
def entropy(p, dim=-1):
    weights = WEIGHTS
    weights.data[weights.data == 0] = 1.0
    return -(weights * torch.log(weights)).sum(dim).to(p.dtype)
""").for_each(WEIGHTS=("p", "p.double()"))
by_terms.mistake("sums_along_dimension_1_by_default", {"dim=-1": "dim=1"}, loses="the average").feedback(
    "Without a `dim` you work along dimension 1. The default should be the last dimension, `dim=-1`, which a plain "
    "list has too."
)
by_terms.mistake(numbers.always_float64(of="`p`"), {"(p).sum(dim)": "(p.double()).sum(dim)"}, loses="float64")
right.mistake(
    "takes_the_weight_for_a_constant", {"p * torch": "p.detach() * torch"}, loses=("gradients", "gradients at tiny")
).feedback(
    "You treat the weight before the logarithm as a constant, so the gradients are wrong. The values are right, "
    "but both the weight and the logarithm change with `p`."
)
by_terms.mistake("adds_the_complements", {"terms(p).sum": "(terms(p) + terms(1 - p)).sum"}, loses=EVERYWHERE).feedback(
    "You add the entropy of each weight's complement, `(1 - p) * log(1 - p)`. That is for a single yes-or-no "
    "question; here the other weights are already the complement."
)
by_terms.mistake("takes_the_largest_contribution", {"sum(dim)": "amax(dim)"}, loses=EVERYWHERE).feedback(
    "You take the largest contribution instead of the sum of all contributions."
)
by_terms.mistake("adds_up_squares", {"terms(p).sum(dim)": "(1 - p.square()).sum(dim)"}, loses=EVERYWHERE).feedback(
    "You subtract squares from 1, which is another measure of how spread out weights are. Entropy is the average "
    "of −log p."
)
by_terms.mistake(numbers.float32_on_the_way, {"(p).sum(dim)": "(p.float()).sum(dim).to(p.dtype)"}, loses="float64")
by_terms.mistake(
    "normalises_before", {"(p).sum(dim)": "(p / p.sum(dim, keepdim=True)).sum(dim)"}, loses="gradients"
).feedback(
    "You divide by the sum first, so the gradients are wrong although the values are right. The sum is 1, but it "
    "changes with each weight, and the gradient includes that change. Use `p` unchanged."
)
keeps_its_last_result(right, loses="the average")
right.mistake("exponentiates", {"torch.log(torch.where(p > 0, p, 1.0))": "torch.exp(p)"}, loses=EVERYWHERE).feedback(
    "You multiply each weight by its exponential. Entropy uses the logarithm: `p * log(p)`.", see=ENTROPY
)
