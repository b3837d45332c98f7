"""Known mistakes in `softmax`."""

from ...shared.families import arguments, calls, gradients, numbers, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import softmax

EVERYWHERE = ("positive", "many lists")  # what an answer loses whose every result is wrong
DIMENSION = "4. Which dimension?"
BACKWARD = "5. What comes back through it"
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
    "Large scores give `nan` or `inf`: in float32 `exp` overflows from 88.7 on, and rounds to 0 below −104. Subtract "
    "the largest score of each list before you exponentiate.",
    see="3. A thousand is too much",
)
right.mistake(numbers.one_maximum_for_all(see="10. Seen in the wild", row="list"), loses="many lists").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.max())
""")
right.mistake("subtracts_nothing_below_zero", loses="scores of any size").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True).clamp(min=0))
""").feedback(
    "What you subtract is never below 0. A list of very negative scores is then not shifted at all, all its "
    "exponentials are rounded to 0, and 0 / 0 is `nan`.",
    see="10. Seen in the wild",
)
right.mistake("subtracts_the_mean", {"x.amax": "x.mean"}, loses="scores of any size").feedback(
    "You subtract the mean of each list. One score that stands out lies far above the mean, and "
    "its exponential still overflows.",
    see="3. A thousand is too much",
)
right.mistake(
    "subtracts_the_minimum", {"x.amax": "x.amin"}, loses=("scores of any size", "scores of minus", "gradients at large")
).feedback(
    "You subtract the *smallest* score, which makes all exponents positive, and large ones larger still. The largest "
    "score should become 0.",
    see="3. A thousand is too much",
)
right.mistake("cuts_large_scores_off", loses="scores of any size").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x.clamp(LIMITS))
+ exponentials = torch.where(x.isneginf(), 0.0, exponentials)
""").for_each(LIMITS=("-80, 80", "max=80")).feedback(
    "You cut large scores off. That keeps `exp` finite, but scores beyond the limit all become "
    "equal, and their differences are what counts.",
    see="3. A thousand is too much",
)
softmax.mistake("trusts_in_float64", loses="scores of any size").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x.double())
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)
""").feedback(
    "float64 only moves the cliff: its `exp` overflows at 709.8. Subtract the largest score "
    "instead; then no format overflows.",
    see="3. A thousand is too much",
)
softmax.mistake("covers_the_overflow_up", loses="scores of any size").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x)
    return torch.nan_to_num(exponentials / exponentials.sum(dim, keepdim=True))
""").feedback(
    "You replace the `nan` of large scores by 0 afterwards. The overflow is covered up, and the "
    "word with the highest score, which should get most, gets nothing.",
    see="3. A thousand is too much",
)
right.mistake(
    "normalises_the_first_dimension", {"amax(dim": "amax(0", "sum(dim": "sum(0"}, loses="many lists"
).feedback(
    "You normalise along the first dimension, whatever `dim` is: look at which way your sums of 1 run.", see=DIMENSION
)
right.mistake(shapes.first_dimension(see=DIMENSION), {"dim=-1": "dim=0"}, loses="many lists")
right.mistake(shapes.dimension_ignored(see=DIMENSION), {"amax(dim": "amax(-1", "sum(dim": "sum(-1"}, loses="many lists")
right.mistake("takes_the_maximum_along_the_last_dimension", {"x.amax(dim": "x.amax(-1"}, loses="many lists").feedback(
    "The sum runs along `dim`, the maximum always along the last dimension. Both belong to the same list: a number "
    "that is subtracted changes no weight only if it is the same for the whole list.",
    see=DIMENSION,
)
right.mistake("takes_the_sum_along_the_last_dimension", {"sum(dim": "sum(-1"}, loses="many lists").feedback(
    "The maximum is taken along `dim`, the sum always along the last dimension. Both belong to the same list.",
    see=DIMENSION,
)
right.mistake("divides_by_the_sum_of_everything", {"sum(dim, keepdim=True)": "sum()"}, loses="many lists").feedback(
    "You divide by the sum of *everything*: all the weights together make 1. Each list along `dim` should make 1 by "
    "itself.",
    see=DIMENSION,
)
right.mistake(shapes.dimension_lost(see=DIMENSION), {"sum(dim, keepdim=True)": "sum(dim)"}, loses="many lists")
softmax.mistake("puts_the_dimension_back_at_the_end", loses="many lists").full_code("""
def softmax(x, dim=-1):
    exponentials = torch.exp(x - x.max(dim).values.unsqueeze(-1))
    return exponentials / exponentials.sum(dim).unsqueeze(-1)
""").feedback(
    "The maximum and the sum get their lost dimension back at the end, whatever `dim` is. It belongs where it was.",
    see=DIMENSION,
)
ready_made.mistake("returns_the_exponentials", {"softmax(x, dim)": "exp(x)"}, loses=EVERYWHERE).feedback(
    "You return the exponentials of the scores, which are positive but do not add up to 1: divide by their sum.",
    see=DIVIDE,
)
ready_made.mistake(
    "does_not_divide", {"softmax(x, dim)": "exp(x - x.amax(dim, keepdim=True))"}, loses=EVERYWHERE
).feedback(
    "Your highest score gets the weight 1, and the others come on top of it: you divide by the largest exponential, or "
    "(after the shift, when it is 1) by nothing. Divide by the sum.",
    see=DIVIDE,
)
right.mistake("divides_by_the_mean", {"exponentials.sum": "exponentials.mean"}, loses=EVERYWHERE).feedback(
    "You divide by the mean of the exponentials, so your weights add up to their number, not to 1.", see=DIVIDE
)
ready_made.mistake(
    "divides_the_scores_by_their_sum", {"torch.softmax(x, dim)": "x / x.sum(dim, keepdim=True)"}, loses=EVERYWHERE
).feedback(
    "You divide the scores themselves by their sum. Negative scores get negative shares so: exponentiate first.",
    see="1. Six scores, one unit of attention",
)
right.mistake(
    "turns_the_order_upside_down", {"x - x.amax(dim, keepdim=True)": "x.amin(dim, keepdim=True) - x"}, loses=EVERYWHERE
).feedback(
    "The order is upside down: your highest score gets the smallest weight. A sign is wrong in the exponent.",
    see=DIVIDE,
)
softmax.mistake("takes_powers_of_another_base", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    powers = BASE ** (x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)
""").for_each(BASE=(2.0, 10.0)).feedback("You take powers of 2, or of 10. The base is e: `torch.exp`.", see=DIVIDE)
ready_made.mistake("gives_each_score_a_sigmoid", {"softmax(x, dim)": "sigmoid(x)"}, loses=EVERYWHERE).feedback(
    "You give each score a weight of its own, between 0 and 1 (a sigmoid). The weights of a list have to share one "
    "unit.",
    see=DIVIDE,
)
softmax.mistake("returns_logarithms", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
""").feedback(
    "These are the logarithms of the weights. That is the next exercise; here the weights themselves are asked for."
)
right.mistake("squeezes_the_weights", loses="many lists").patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return (exponentials / exponentials.sum(dim, keepdim=True)).squeeze()
""").feedback("`squeeze` removes dimensions of size 1 that belong to `x`. The result has the shape of `x`.")
softmax.mistake("does_not_move_the_dimension_back", loses="many lists").full_code("""
def softmax(x, dim=-1):
    x = x.movedim(dim, -1)
    exponentials = torch.exp(x - x.amax(-1, keepdim=True))
    return exponentials / exponentials.sum(-1, keepdim=True)
""").feedback("You move `dim` to the end to work there, and do not move it back.")
right.mistake("takes_minus_infinity_for_zero", loses="scores of minus").patch("""
  def softmax(x, dim=-1):
+     x = torch.where(x.isneginf(), 0.0, x)
""").feedback(
    "A score of −∞ becomes a score of 0 on the way, which is no small one: its weight should be 0. "
    "No line is needed for it, `exp` does the right thing.",
    see="3. A thousand is too much",
)
right.mistake("puts_a_number_for_minus_infinity", loses="scores of minus").patch("""
  def softmax(x, dim=-1):
+     x = torch.where(x.isneginf(), FILL, x)
""").for_each(FILL=(-1e9, -1e4, -1e5, -1e6, -1e10, -1e12)).feedback(
    "You put a large negative number in the place of −∞. Beside scores that are lower still it "
    "wins: a number is a score like any other, −∞ is not.",
    see="3. A thousand is too much",
)
right.mistake("adds_a_constant_to_the_exponentials", loses="scores of minus").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True)) + EPS
""").for_each(EPS=(1e-6, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-5)).feedback(
    "A score of −∞ gets a weight too, if a small one: you add a constant to the exponentials, or cut them off below. "
    "The weight should be 0 exactly, and the sum needs no help: it holds an exponential of 1.",
    see="3. A thousand is too much",
)
softmax.alternative("in_one_pass").mistake(
    "starts_at_minus_infinity", {"torch.finfo(x.dtype).min": "-math.inf"}, loses="scores of minus"
).feedback(
    "A list that begins with −∞ becomes `nan`: the largest score so far is −∞ there, and −∞ minus −∞ is no number.",
    see="3. A thousand is too much",
)
right.mistake(numbers.result_float32(of="`x`"), loses="float64")
ready_made.mistake(gradients.cut(see=BACKWARD, what="`x`"), {"(x, dim)": "(x.detach(), dim)"}, loses="gradients")
right.mistake("takes_the_sum_for_a_constant", loses="gradients").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
- return exponentials / exponentials.sum(dim, keepdim=True)
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True).detach())
+ return exponentials / exponentials.sum(dim, keepdim=True).detach()
""").feedback(
    "The weights are right, the gradient is not: you take the sum for a constant (`detach`, `no_grad`, `.item()`), but "
    "it changes with the scores. That is how one word's gain becomes another's loss.",
    see=BACKWARD,
)
right.mistake(arguments.argument_changed(what="`x`"), loses="arguments").patch("""
- exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ x -= x.amax(dim, keepdim=True)
+ exponentials = torch.exp(x)
""")
softmax.mistake(arguments.argument_changed("shifts_what_it_converted_in_place"), loses="arguments").full_code("""
def softmax(x, dim=-1):
    scores = x.double()
    scores -= scores.detach().amax(dim, keepdim=True)
    exponentials = scores.exp()
    return (exponentials / exponentials.sum(dim, keepdim=True)).to(x.dtype)
""").feedback(
    "Your function changes an argument that is float64 already: what converts a tensor (`double`, `to`, `contiguous`) "
    "gives the very same one where there is nothing to convert, and `-=` writes into it."
)
right.mistake("takes_dimension_1_by_default", {"dim=-1": "dim=1"}, loses=("positive", "scores of any size")).feedback(
    "Without a `dim` you work along dimension 1. The default should be the last one, `dim=-1`, "
    "which a plain list has, too."
)
right.mistake(
    "subtracts_the_largest_magnitude", {"x.amax(dim, keepdim=True)": "LARGEST"}, loses="scores of any size"
).for_each(LARGEST=("x.abs().amax(dim, keepdim=True)", "x.amax(dim, keepdim=True).abs()")).feedback(
    "You subtract a *magnitude*. In a list of negative scores that lies on the wrong "
    "side of all of them, and every exponential becomes 0: subtract the largest score itself.",
    see="3. A thousand is too much",
)
ready_made.mistake(numbers.result_float64(of="`x`"), loses="float64")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake("takes_the_sum_but_not_the_maximum_for_a_constant", loses=("gradients", "gradients at large")).patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return exponentials / exponentials.sum(dim, keepdim=True).detach()
""").feedback(
    "The values are right, the gradients are not: you take the sum for a constant (`detach`, "
    "`no_grad`, `.item()`), yet it changes with the scores. Only the maximum may be one."
)
softmax.mistake("rounds_the_logarithm_of_the_sum_away", loses="scores of any size").full_code("""
def softmax(x, dim=-1):
    largest = torch.amax(x, dim=dim, keepdim=True).detach()
    total = largest + torch.log(torch.sum(torch.exp(x - largest), dim=dim, keepdim=True))
    return torch.exp(x - total)
""").feedback(
    "You add the logarithm of the sum to the largest score. Beside a score of 1e8 that logarithm is rounded away, and "
    "two such scores get a weight of 1 each. Only the shifted scores are small enough to work with.",
    see="3. A thousand is too much",
)
keeps_its_last_result(right, loses="positive")
right.mistake(calls.result_remembered("keeps_results_by_the_tensor"), loses="positive").patch("""
+ import functools
+
+
+ @functools.lru_cache(maxsize=None)
  def softmax(x, dim=-1):
""").feedback(
    "Your function hands out an earlier result as soon as it gets the same tensor. The numbers in a tensor can change, "
    "as weights do in training: compute each call anew."
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
    "For a single list you fill a new vector, whose dtype is float32 whatever came in. `torch.zeros_like(x)` makes one "
    "of the dtype of `x`."
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
    "The weights sum to a little less than 1: you add a constant to the sum. The sum needs no help: once the largest "
    "score is subtracted, it holds an exponential of 1.",
    see="3. A thousand is too much",
)
softmax.mistake("shifts_above_the_line_only", loses=EVERYWHERE).full_code("""
def softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted.exp() / x.exp().sum(dim, keepdim=True)
""").feedback(
    "The largest score is subtracted above the line, but not in the sum below it. It cancels only if both have it.",
    see="3. A thousand is too much",
)
right.mistake("divides_by_the_sum_of_scores", loses=EVERYWHERE).patch("""
- return exponentials / exponentials.sum(dim, keepdim=True)
+ return exponentials / SCORES.sum(dim, keepdim=True)
""").for_each(SCORES=("x", "(x - x.amax(dim, keepdim=True))")).feedback(
    "You divide the exponentials by the sum of the scores. Divide them by the sum of the exponentials.", see=DIVIDE
)
