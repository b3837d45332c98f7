"""Known mistakes in `log_softmax`."""

from ...shared.families import arguments, gradients, numbers, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import log_softmax

EVERYWHERE = ("the logarithms", "many lists")  # what an answer loses whose every result is wrong
LOGARITHM = "5. The logarithm of a weight"

right = log_softmax.reference_answer("""
def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
""")

ready_made = log_softmax.reference_answer("""
def log_softmax(x, dim=-1):
    return torch.log_softmax(x, dim)
""")

log_softmax.mistake("takes_the_logarithm_of_softmax", loses=("scores and gaps", "gradients")).full_code("""
def log_softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log(exponentials / exponentials.sum(dim, keepdim=True))
""").feedback(
    "You take the logarithm of a softmax, so a score far below the highest gives −∞, and NaN in the gradient. Its "
    "weight was rounded to 0. Take the logarithm on paper first.",
    see=LOGARITHM,
)
log_softmax.mistake("adds_a_tiny_number", loses=("scores and gaps", "scores of minus", "gradients")).full_code("""
def log_softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log(exponentials / exponentials.sum(dim, keepdim=True) + EPS)
""").for_each(EPS=(1e-9, 1e-45, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5)).feedback(
    "You add a tiny number before the logarithm, so small weights get the same logarithm and no gradient. This "
    "removes the infinity, but it changes every weight below that number, and a score of −∞ does not give −∞.",
    see=LOGARITHM,
)
log_softmax.mistake("cuts_small_weights_off", loses=("scores and gaps", "scores of minus", "gradients")).full_code("""
def log_softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return torch.log((exponentials / exponentials.sum(dim, keepdim=True)).clamp(min=EPS))
""").for_each(EPS=(1e-12, 1e-30, 1e-20, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)).feedback(
    "You cut small weights off before the logarithm, so they all get the same logarithm and no gradient. This "
    "changes every weight below your limit, and a score of −∞ does not give −∞.",
    see=LOGARITHM,
)
ready_made.mistake(numbers.exponentials_overflow("subtracts_no_maximum_from_scores"), loses="scores and gaps").patch("""
- return torch.log_softmax(x, dim)
+ return x - torch.log(torch.exp(x).sum(dim, keepdim=True))
""").feedback(
    "You do not subtract the largest score, so the exponentials overflow for scores above 88.7. Below −104 they "
    "are all rounded to 0. Your formula is right on paper, but subtract the largest score first here too.",
    see="3. Scores of any size",
)
right.mistake(numbers.one_maximum_for_all(see="4. Which dimension?", row="list"), loses="many lists").patch("""
- shifted = x - x.amax(dim, keepdim=True)
+ shifted = x - x.max()
""")
right.mistake("shifts_in_one_place_only", {"shifted -": "x -"}, loses=("the logarithms", "scores and gaps")).feedback(
    "You shift the scores in the sum, but not the scores from which you subtract its logarithm. Subtract the "
    "maximum from both.",
    see=LOGARITHM,
)
ready_made.mistake(
    "shifts_only", {"torch.log_softmax(x, dim)": "x - x.amax(dim, keepdim=True)"}, loses=EVERYWHERE
).feedback("You shift the scores, but do not subtract the logarithm of the sum.", see=LOGARITHM)
right.mistake("subtracts_the_sum_itself", {".log()": ""}, loses=EVERYWHERE).feedback(
    "You subtract the sum itself instead of its logarithm. A division becomes the subtraction of a *logarithm*.",
    see=LOGARITHM,
)
right.mistake("adds_the_logarithm", {"shifted -": "shifted +"}, loses=EVERYWHERE).feedback(
    "You add the logarithm of the sum instead of subtracting it. A division becomes a *subtraction*; logarithms of "
    "weights are never positive.",
    see=LOGARITHM,
)
right.mistake("divides_by_the_logarithm", {"shifted -": "shifted /"}, loses=EVERYWHERE).feedback(
    "You divide by the logarithm of the sum. A division becomes a *subtraction* of logarithms.", see=LOGARITHM
)
ready_made.mistake("returns_the_weights", {"torch.log_softmax": "torch.softmax"}, loses=EVERYWHERE).feedback(
    "You return the weights. Return their logarithms.", see=LOGARITHM
)
ready_made.mistake("returns_the_loss", {"torch.log_softmax": "-torch.log_softmax"}, loses=EVERYWHERE).feedback(
    "You return minus the logarithm, which is the loss. Logarithms of weights are never positive.",
    see=LOGARITHM,
)
ready_made.mistake("takes_base_two", {"(x, dim)": "(x, dim) / math.log(2)"}, loses=EVERYWHERE).feedback(
    "You take logarithms to base 2. Take the natural logarithm, `torch.log`."
)
ready_made.mistake("takes_base_ten", {"(x, dim)": "(x, dim) / math.log(10)"}, loses=EVERYWHERE).feedback(
    "You take logarithms to base 10. Take the natural logarithm, `torch.log`."
)
ready_made.mistake(
    shapes.dimension_ignored(see="4. Which dimension?"), {"(x, dim)": "(x, -1)"}, loses="many lists", clause="dim"
)
ready_made.mistake("works_along_the_first_dimension", {"(x, dim)": "(x, 0)"}, loses="many lists").feedback(
    "You always normalise along the first dimension and ignore `dim`.", see="4. Which dimension?"
)
right.mistake(shapes.first_dimension(see="4. Which dimension?"), {"dim=-1": "dim=0"}, loses="many lists")
right.mistake("sums_over_everything", {"(dim, keepdim=True).": "()."}, loses="many lists").feedback(
    "You sum over *everything*, so all the weights together sum to 1. Each list along `dim` must sum to 1 by itself.",
    see="4. Which dimension?",
)
right.mistake(shapes.dimension_lost(see="4. Which dimension?"), {"(dim, keepdim=True).": "(dim)."}, loses="many lists")
ready_made.mistake(
    "makes_minus_infinity_finite", {"(x, dim)": "(x, dim).nan_to_num()"}, loses="scores of minus"
).feedback(
    "A score of −∞ gives a large negative number instead of −∞. `nan_to_num` or a clamp hides the infinity.",
    see="3. Scores of any size",
)
ready_made.mistake("puts_a_number_for_minus_infinity", loses="scores of minus").patch("""
- return torch.log_softmax(x, dim)
+ gone = x.isneginf()
+ return torch.log_softmax(x.masked_fill(gone, LEAST), dim).masked_fill(gone, float("-inf"))
""").for_each(LEAST=(-1e9, -1e8)).feedback(
    "You replace −∞ by a number, but finite scores may be lower still. No extra line is needed: `exp` turns −∞ "
    "into 0, and the subtraction leaves it at −∞.",
    see="3. Scores of any size",
)
ready_made.mistake("minus_infinity_becomes_zero", loses="scores of minus", clause="infinite").patch("""
- return torch.log_softmax(x, dim)
+ return torch.log_softmax(torch.where(x.isneginf(), 0.0, x), dim)
""").feedback(
    "You replace −∞ by a score of 0, which is not a small score. No extra line is needed: `exp` turns −∞ into 0, "
    "and the subtraction leaves it at −∞.",
    see="3. Scores of any size",
)
right.mistake("minus_infinity_spoils_the_list", loses="scores of minus").patch("""
- return shifted - shifted.exp().sum(dim, keepdim=True).log()
+ powers = shifted.exp()
+ # The sum of p ln p is no part of this, but it is what spoils a list where people write it
+ return shifted - powers.sum(dim, keepdim=True).log() + 0 * (powers * shifted).sum(dim, True)
""").feedback(
    "A list with a score of −∞ becomes NaN. Somewhere you multiply −∞ by 0, or subtract it from itself.",
    see="3. Scores of any size",
)
ready_made.mistake(numbers.always_float32(of="`x`"), {"(x, dim)": "(x.float(), dim)"}, loses="float64")
ready_made.mistake(gradients.cut(what="`x`"), {"(x, dim)": "(x, dim).detach()"}, loses="gradients")
right.mistake(
    gradients.treated_as_constant(what="the logarithm of the sum"),
    {"x.amax(dim, keepdim=True)": "x.amax(dim, keepdim=True).detach()", "shifted.exp": "shifted.detach().exp"},
    loses="gradients",
)
log_softmax.mistake(arguments.argument_changed(what="`x`"), loses="arguments").full_code("""
def log_softmax(x, dim=-1):
    x -= x.amax(dim, keepdim=True)
    return x - x.exp().sum(dim, keepdim=True).log()
""")
log_softmax.mistake(arguments.argument_changed("shifts_what_it_converted_in_place"), loses="arguments").full_code("""
def log_softmax(x, dim=-1):
    shifted = x.double()
    shifted -= shifted.detach().amax(dim, keepdim=True)
    return (shifted - shifted.exp().sum(dim, keepdim=True).log()).to(x.dtype)
""").feedback(
    "You change an argument that is already float64. `double`, `to` and `contiguous` return the same tensor if "
    "there is nothing to convert, and `-=` writes into it."
)
right.mistake(
    "works_along_dimension_1_by_default", {"dim=-1": "dim=1"}, loses=("the logarithms", "scores and gaps")
).feedback(
    "Without a `dim` you work along dimension 1. The default should be the last dimension, `dim=-1`, which a plain "
    "list has too."
)
log_softmax.mistake("adds_the_maximum_back", loses=("the logarithms", "scores and gaps")).full_code("""
def log_softmax(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    return x - ((x - largest).exp().sum(dim, keepdim=True).log() - largest)
""").feedback(
    "You add the maximum instead of subtracting it. The logarithm of the sum is `m + log(...)`, and all of it is "
    "subtracted. Check the signs in your brackets.",
    see=LOGARITHM,
)
right.mistake("takes_the_mean_of_the_exponentials", {".sum(": ".mean("}, loses=EVERYWHERE).feedback(
    "You take the mean of the exponentials instead of their *sum*. Every result is too large by the logarithm of "
    "their number."
)
log_softmax.mistake("takes_the_logarithm_of_a_float64_softmax", loses="scores and gaps").full_code("""
def log_softmax(x, dim=-1):
    return torch.softmax(x.double(), dim).log().to(x.dtype)
""").feedback(
    "You take the logarithm of a softmax in float64, which only moves the point where a weight is rounded to 0. It "
    "moves from a gap of about 100 to one of about 750. Take the logarithm on paper first.",
    see=LOGARITHM,
)
log_softmax.mistake("stops_at_the_smallest_number", loses=("scores and gaps", "scores of minus")).full_code("""
def log_softmax(x, dim=-1):
    return torch.softmax(x, dim).clamp_min(torch.finfo(x.dtype).tiny).log()
""").feedback(
    "You replace weights of 0 by the dtype's smallest number before you take the logarithm. Every score that is "
    "far behind then gets the same logarithm, even a score of −∞. Take the logarithm on paper first.",
    see=LOGARITHM,
)
ready_made.mistake(numbers.result_float64(of="`x`"), loses="float64")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(
    "takes_the_logarithm_but_not_the_maximum_for_a_constant", {"log()": "log().detach()"}, loses="gradients"
).feedback(
    "You treat the logarithm of the sum as a constant (`detach`, `no_grad`, `.item()`), so the gradients are "
    "wrong. The values are right, but the logarithm changes with the scores. Only the maximum may be a constant."
)
log_softmax.mistake("rounds_the_logarithm_away", loses="scores and gaps", clause="gaps").full_code("""
def log_softmax(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    return x - (largest + (x - largest).exp().sum(dim, keepdim=True).log())
""").feedback(
    "You add the logarithm of the sum to the largest score first, where it can be rounded away. A score of 1e8 is "
    "enough for that. Subtract the two one after the other, the largest score first.",
)
log_softmax.mistake("adds_up_in_pairs", loses="gradients").full_code("""
def log_softmax(x, dim=-1):
    shifted = x - LARGEST
    total = shifted.narrow(dim, 0, 1)
    for i in range(1, x.shape[dim]):
        total = torch.logaddexp(total, shifted.narrow(dim, i, 1))
    return shifted - total
""").for_each(LARGEST=("x.amax(dim, keepdim=True)", "x.amax(dim, keepdim=True).detach()")).feedback(
    "The gradient beside scores of −∞ is NaN, because you take `logaddexp` of two of them. The values are right, "
    "but `logaddexp` has no other gradient there.",
    see="3. Scores of any size",
)
keeps_its_last_result(right, loses="the logarithms")
right.mistake(
    scores.softmax_over_everything(see="4. Which dimension?", row="list"),
    {"amax(dim, keepdim=True)": "max()", "sum(dim, keepdim=True)": "sum()"},
    loses="many lists",
)
right.mistake("takes_the_logarithm_of_the_sum_to_another_base", {".log()": ".LOG()"}, loses=EVERYWHERE).for_each(
    LOG=("log10", "log2")
).feedback(
    "You take the logarithm of the sum to a base other than that of `exp`. The natural logarithm, `torch.log`, "
    "undoes `exp`.",
)
log_softmax.mistake("returns_the_logarithm_of_the_sum", loses=EVERYWHERE).full_code("""
def log_softmax(x, dim=-1):
    largest = x.amax(dim, keepdim=True)
    return largest + (x - largest).exp().sum(dim, keepdim=True).log()
""").feedback(
    "You return the logarithm of the sum of exponentials. That is only half of it: subtract it from the scores.",
    see=LOGARITHM,
)
log_softmax.mistake("lines_of_lesson_0", loses=("many lists", "scores and gaps", "gradients")).full_code("""
def log_softmax(x, dim=-1):
    scores = x.tolist()
    powers = [math.exp(score) for score in scores]
    return torch.tensor([math.log(power / sum(powers)) for power in powers], dtype=x.dtype)
""").feedback(
    "These are the lines of lesson 0, for a single list of plain numbers. No gradient passes `.tolist()`, and a matrix "
    "is a list of lists. Take whole tensors: `torch.exp`, and a sum along `dim`.",
    see="4. Which dimension?",
)
