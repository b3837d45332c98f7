"""Known mistakes in `softmax`."""

from ...shared.families import arguments, calls, gradients, numbers, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import softmax

EVERYWHERE = ("positive", "many lists")  # what an answer loses whose every result is wrong
DIMENSION = "4. Which dimension?"
BACKWARD = "The gradient of softmax (extra)"
DIVIDE = "2. Exponentiate, then divide"

right = softmax.reference_answer("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.amax(dim, keepdim=True))
    return exponentials / exponentials.sum(dim, keepdim=True)
""")

ready_made = softmax.reference_answer("""
def softmax(x, dim=-1):
    return torch.softmax(x, dim)
""")

right.mistake(numbers.exponentials_overflow("subtracts_no_maximum"), loses="scores of any size").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x)
""").feedback(
    "Large scores give NaN or infinity, because `exp` overflows above 88.7 in float32. Below −104 it is rounded "
    "to 0. Subtract the largest score of each list before you exponentiate.",
    see="3. Scores of any size",
)
right.mistake(numbers.one_maximum_for_all(see=DIMENSION, row="list"), loses="many lists").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.max())
""")
right.mistake("subtracts_nothing_below_zero", loses="scores of any size").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True).clamp(min=0))
""").feedback(
    "You never subtract a number below 0, so a list of very negative scores is not shifted at all. All its "
    "exponentials are rounded to 0, and 0 / 0 is NaN.",
    see="3. Scores of any size",
)
right.mistake("subtracts_the_mean", {"x.amax": "x.mean"}, loses="scores of any size").feedback(
    "You subtract the mean of each list, so the exponential of a single large score still overflows. Such a score "
    "is far above the mean.",
    see="3. Scores of any size",
)
right.mistake(
    "subtracts_the_minimum", {"x.amax": "x.amin"}, loses=("scores of any size", "scores of minus", "gradients at large")
).feedback(
    "You subtract the *smallest* score, which makes all exponents positive and large ones even larger. The largest "
    "score should become 0.",
    see="3. Scores of any size",
)
right.mistake("cuts_large_scores_off", loses="scores of any size").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x.clamp(LIMITS))
+ exponentials = torch.where(x.isneginf(), 0.0, exponentials)
""").for_each(LIMITS=("-80, 80", "max=80")).feedback(
    "You cut large scores off, so all scores beyond the limit become equal. That keeps `exp` finite, but it loses "
    "the differences between scores, which determine the weights.",
    see="3. Scores of any size",
)
softmax.mistake("trusts_in_float64", loses="scores of any size").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x.double())
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)
""").feedback(
    "You compute in float64, but its `exp` overflows too, at 709.8. Subtract the largest score instead; then no "
    "dtype overflows.",
    see="3. Scores of any size",
)
softmax.mistake("covers_the_overflow_up", loses="scores of any size").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x)
    return torch.nan_to_num(exponentials / exponentials.sum(dim, keepdim=True))
""").feedback(
    "You replace the NaN of large scores by 0, which only hides the overflow. The word with the highest score "
    "should get the most, but gets nothing.",
    see="3. Scores of any size",
)
right.mistake(
    "normalises_the_first_dimension", {"amax(dim": "amax(0", "sum(dim": "sum(0"}, loses="many lists"
).feedback(
    "You always normalise along the first dimension and ignore `dim`. Check along which dimension your weights sum "
    "to 1.",
    see=DIMENSION,
)
right.mistake(shapes.first_dimension(see=DIMENSION), {"dim=-1": "dim=0"}, loses="many lists")
right.mistake(
    shapes.dimension_ignored(see=DIMENSION),
    {"amax(dim": "amax(-1", "sum(dim": "sum(-1"},
    loses="many lists",
    clause="dim",
)
right.mistake("takes_the_maximum_along_the_last_dimension", {"x.amax(dim": "x.amax(-1"}, loses="many lists").feedback(
    "You take the sum along `dim`, but the maximum always along the last dimension. Both must run over the same "
    "list. Subtracting a number leaves the weights unchanged only if it is the same for the whole list.",
    see=DIMENSION,
)
right.mistake("takes_the_sum_along_the_last_dimension", {"sum(dim": "sum(-1"}, loses="many lists").feedback(
    "You take the maximum along `dim`, but the sum always along the last dimension. Both must run over the same list.",
    see=DIMENSION,
)
right.mistake("divides_by_the_sum_of_everything", {"sum(dim, keepdim=True)": "sum()"}, loses="many lists").feedback(
    "You divide by the sum of *everything*, so all the weights together sum to 1. Each list along `dim` must sum "
    "to 1 by itself.",
    see=DIMENSION,
)
right.mistake(shapes.dimension_lost(see=DIMENSION), {"sum(dim, keepdim=True)": "sum(dim)"}, loses="many lists")
softmax.mistake("puts_the_dimension_back_at_the_end", loses="many lists").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.max(dim).values.unsqueeze(-1))
    return exponentials / exponentials.sum(dim).unsqueeze(-1)
""").feedback(
    "You restore the lost dimension of the maximum and the sum at the end, whatever `dim` is. It belongs where it was.",
    see=DIMENSION,
)
ready_made.mistake("returns_the_exponentials", {"softmax(x, dim)": "exp(x)"}, loses=EVERYWHERE).feedback(
    "You return the exponentials of the scores. They are positive, but they do not sum to 1: divide by their sum.",
    see=DIVIDE,
)
ready_made.mistake(
    "does_not_divide", {"softmax(x, dim)": "exp(x - x.amax(dim, keepdim=True))"}, loses=EVERYWHERE
).feedback(
    "You do not divide by the sum of the exponentials, so the highest score alone gets the weight 1. You divide by "
    "the largest exponential or, after the shift, by nothing: the largest is 1 then. Divide by the sum.",
    see=DIVIDE,
)
right.mistake("divides_by_the_mean", {"exponentials.sum": "exponentials.mean"}, loses=EVERYWHERE).feedback(
    "You divide by the mean of the exponentials, so the weights of a list sum to their number, not to 1.", see=DIVIDE
)
ready_made.mistake(
    "divides_the_scores_by_their_sum", {"torch.softmax(x, dim)": "x / x.sum(dim, keepdim=True)"}, loses=EVERYWHERE
).feedback(
    "You divide the scores themselves by their sum, so negative scores get negative shares. Exponentiate first.",
    see="1. From scores to shares",
)
right.mistake(
    "turns_the_order_upside_down", {"x - x.amax(dim, keepdim=True)": "x.amin(dim, keepdim=True) - x"}, loses=EVERYWHERE
).feedback(
    "Your highest score gets the smallest weight. A sign in the exponent is wrong.",
    see=DIVIDE,
)
softmax.mistake("takes_powers_of_another_base", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    powers = BASE ** (x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)
""").for_each(BASE=(2.0, 10.0)).feedback("You take powers of 2 or of 10. The base is e: use `torch.exp`.", see=DIVIDE)
ready_made.mistake("gives_each_score_a_sigmoid", {"softmax(x, dim)": "sigmoid(x)"}, loses=EVERYWHERE).feedback(
    "You give each score its own weight between 0 and 1 (a sigmoid). The weights of a list have to share one unit.",
    see=DIVIDE,
)
softmax.mistake("returns_logarithms", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
""").feedback(
    "You return the logarithms of the weights. That is the next exercise; here return the weights themselves."
)
right.mistake("squeezes_the_weights", loses="many lists").patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return (exponentials / exponentials.sum(dim, keepdim=True)).squeeze()
""").feedback("You `squeeze` away dimensions of size 1 that belong to `x`. The result must have the shape of `x`.")
softmax.mistake("does_not_move_the_dimension_back", loses="many lists").full_code("""
def softmax(x, dim=-1):
    x = x.movedim(dim, -1)
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)
""").feedback("You move `dim` to the end to work there, but do not move it back.")
right.mistake("takes_minus_infinity_for_zero", loses="scores of minus", clause="infinite").patch("""
  def softmax(x, dim=-1):
+     x = torch.where(x.isneginf(), 0.0, x)
""").feedback(
    "You replace −∞ by a score of 0, which is not a small score: its weight should be 0. No extra line is needed, "
    "because `exp` does the right thing.",
    see="3. Scores of any size",
)
right.mistake("puts_a_number_for_minus_infinity", loses="scores of minus").patch("""
  def softmax(x, dim=-1):
+     x = torch.where(x.isneginf(), FILL, x)
""").for_each(FILL=(-1e9, -1e4, -1e5, -1e6, -1e10, -1e12)).feedback(
    "You replace −∞ by a large negative number, which beats scores that are lower still. A number is a score like "
    "any other; −∞ is not.",
    see="3. Scores of any size",
)
right.mistake("adds_a_constant_to_the_exponentials", loses="scores of minus").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True)) + EPS
""").for_each(EPS=(1e-6, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-5)).feedback(
    "You add a constant to the exponentials or clamp them, so a score of −∞ gets a small weight. The weight must "
    "be exactly 0, and the sum needs no constant: it contains an exponential of 1.",
    see="3. Scores of any size",
)
softmax.alternative("in_one_pass").mistake(
    "starts_at_minus_infinity", {"torch.finfo(x.dtype).min": "-math.inf"}, loses="scores of minus"
).feedback(
    "A list that begins with −∞ becomes NaN. The largest score so far is −∞ there, and −∞ minus −∞ is undefined.",
    see="3. Scores of any size",
)
right.mistake(numbers.result_float32(of="`x`"), loses="float64", clause="dtype")
ready_made.mistake(
    gradients.cut(see=BACKWARD, what="`x`"),
    {"(x, dim)": "(x.detach(), dim)"},
    loses="gradients",
    clause="gradients",
)
right.mistake(
    numbers.default_device(what="the result", how="`torch.zeros_like(x)` does"), loses="float64", clause="device"
).patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ weights = torch.zeros(x.shape, dtype=x.dtype)
+ return weights + exponentials / exponentials.sum(dim, keepdim=True)
""")
right.mistake("takes_the_sum_for_a_constant", loses="gradients").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
- return exponentials / exponentials.sum(dim, keepdim=True)
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
+ return exponentials / exponentials.sum(dim, keepdim=True).detach()
""").feedback(
    "You treat the sum as a constant (`detach`, `no_grad`, `.item()`), so the gradient is wrong. The weights are "
    "right, but the sum changes with the scores. That is how one word's gain becomes another's loss.",
    see=BACKWARD,
)
right.mistake(arguments.argument_changed(what="`x`"), loses="arguments").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ x -= x.amax(dim, keepdim=True)
+ exponentials = torch.exp(x)
""")
softmax.mistake(
    arguments.argument_changed("shifts_what_it_converted_in_place"), loses="arguments", clause="purity"
).full_code("""
def softmax(x, dim=-1):
    scores = x.double()
    scores -= scores.detach().amax(dim, keepdim=True)
    exponentials = scores.exp()
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)
""").feedback(
    "You change an argument that is already float64. `double`, `to` and `contiguous` return the same tensor if "
    "there is nothing to convert, and `-=` writes into it."
)
right.mistake("takes_dimension_1_by_default", {"dim=-1": "dim=1"}, loses=("positive", "scores of any size")).feedback(
    "Without a `dim` you work along dimension 1. The default should be the last dimension, `dim=-1`, which a plain "
    "list has too."
)
right.mistake(
    "subtracts_the_largest_magnitude", {"x.amax(dim, keepdim=True)": "LARGEST"}, loses="scores of any size"
).for_each(LARGEST=("x.abs().amax(dim, keepdim=True)", "x.amax(dim, keepdim=True).abs()")).feedback(
    "You subtract an *absolute value*, so every exponential in a list of very negative scores becomes 0. That "
    "value is on the wrong side of all the scores. Subtract the largest score itself.",
    see="3. Scores of any size",
)
ready_made.mistake(numbers.result_float64(of="`x`"), loses="float64")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake("takes_the_sum_but_not_the_maximum_for_a_constant", loses=("gradients", "gradients at large")).patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return exponentials / exponentials.sum(dim, keepdim=True).detach()
""").feedback(
    "You treat the sum as a constant (`detach`, `no_grad`, `.item()`), so the gradients are wrong. The values are "
    "right, but the sum changes with the scores. Only the maximum may be a constant."
)
softmax.mistake("rounds_the_logarithm_of_the_sum_away", loses="scores of any size", clause="size").full_code("""
def softmax(x, dim=-1):
    largest = torch.amax(x, dim=dim, keepdim=True).detach()
    total = largest + torch.log(torch.sum(torch.exp(x - largest), dim=dim, keepdim=True))
    return torch.exp(x - total)
""").feedback(
    "You add the logarithm of the sum to the largest score, where it can be rounded away. This happens beside a "
    "score of 1e8, and two such scores get a weight of 1 each. Only the shifted scores are small enough to work "
    "with.",
    see="3. Scores of any size",
)
keeps_its_last_result(right, loses="positive")
right.mistake(calls.result_remembered("keeps_results_by_the_tensor"), loses="positive").patch("""
+ import functools
+
+
+ @functools.lru_cache(maxsize=None)
  def softmax(x, dim=-1):
""").feedback(
    "You return an earlier result when you get the same tensor again. Its numbers may have changed, as weights do "
    "in training. Compute each call afresh."
)
softmax.mistake(gradients.infinite_exponential(see=BACKWARD), loses="gradients at large").full_code("""
def softmax(x, dim=-1):
    lists = x.movedim(dim, -1)
    hidden = lists.isneginf()
    scores = torch.where(hidden, 0.0, lists)
    ratios = (scores.unsqueeze(-2) - scores.unsqueeze(-1)).exp()
    weights = 1 / torch.where(hidden.unsqueeze(-2), 0.0, ratios).sum(-1)
    return torch.where(hidden, 0.0, weights).movedim(-1, dim)
""")
right.mistake(numbers.always_float32("makes_a_new_vector"), loses="float64").patch("""
  def softmax(x, dim=-1):
+     if x.ndim == 1:
+         shares = torch.zeros(len(x))
+         for i, score in enumerate(x):
+             shares[i] = 1 / torch.exp(x - score).sum() if score > -math.inf else 0.0
+         return shares
""").feedback(
    "For a single list you fill a new vector, which is float32 whatever the dtype of `x`. `torch.zeros_like(x)` "
    "makes one with the dtype of `x`."
)
right.mistake(
    scores.softmax_over_everything(see=DIMENSION, row="list"),
    {"x.amax(dim, keepdim=True)": "x.max()", "exponentials.sum(dim, keepdim=True)": "exponentials.sum()"},
    loses="many lists",
)
right.mistake("adds_a_constant_to_the_sum", loses="float64").patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return exponentials / (exponentials.sum(dim, keepdim=True) + EPS)
""").for_each(EPS=(1e-6, 1e-5)).feedback(
    "You add a constant to the sum, so the weights sum to slightly less than 1. The sum needs no constant: once "
    "the largest score is subtracted, it contains an exponential of 1.",
    see="3. Scores of any size",
)
softmax.mistake("shifts_above_the_line_only", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted.exp() / x.exp().sum(dim, keepdim=True)
""").feedback(
    "You subtract the largest score in the numerator, but not in the denominator. It cancels only if it is in both.",
    see="3. Scores of any size",
)
right.mistake("divides_by_the_sum_of_scores", loses=EVERYWHERE).patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return exponentials / SCORES.sum(dim, keepdim=True)
""").for_each(SCORES=("x", "(x - x.amax(dim, keepdim=True))")).feedback(
    "You divide the exponentials by the sum of the scores. Divide them by the sum of the exponentials.", see=DIVIDE
)
softmax.mistake("lines_of_lesson_0", loses=("many lists", "scores of any size", "gradients")).full_code("""
def softmax(x, dim=-1):
    scores = x.tolist()
    powers = [math.exp(score) for score in scores]
    return torch.tensor([power / sum(powers) for power in powers], dtype=x.dtype)
""").feedback(
    "These are the lines of lesson 0, for a single list of plain numbers. No gradient passes `.tolist()`, and a matrix "
    "is a list of lists. Take whole tensors: `torch.exp`, and a sum along `dim`.",
    see="4. Which dimension?",
)
