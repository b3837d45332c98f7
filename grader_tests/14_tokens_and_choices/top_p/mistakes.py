"""Known mistakes in `top_p`."""

from ...shared.families import arguments, gradients, numbers, results, scores, shapes
from .contract import top_p

KEPT, ROWS, SIZES, ERROR, FORM = "which tokens", "row by row", "logits of", "ValueError", "gradients"
EVERYWHERE = (KEPT, ROWS)

right = top_p.reference_answer("""
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, and must be above 0 and at most 1")
    probabilities = torch.softmax(logits, dim=-1)
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.where((before < p) | (p == 1), ordered, 0.0)
    back = torch.zeros_like(probabilities).scatter(-1, places, kept)
    return back / back.sum(dim=-1, keepdim=True)
""")

right.mistake("one_too_few", {"before < p": "before + ordered < p"}, loses=EVERYWHERE).feedback(
    "You leave out the token that reaches `p`. If the most probable one reaches it alone, nothing is left. Keep each "
    "token before which the sum is still below `p`."
)
right.mistake("one_too_few_but_the_first", loses=EVERYWHERE).patch("""
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
+ kept = torch.where((before + ordered < p) | (before == 0), ordered, 0.0)
""").feedback(
    "You leave out the token that reaches `p`, unless it is the first. The kept ones have to sum to *at least* `p`."
)
right.mistake("one_too_many", loses=EVERYWHERE).patch("""
- before = ordered.cumsum(dim=-1) - ordered
+ before = ordered.cumsum(dim=-1) - ordered - ordered.roll(1, -1)
""").feedback("You keep one token more than needed. The smallest set ends with the token that reaches `p`.")
right.mistake("not_rescaled", {"back / back.sum(dim=-1, keepdim=True)": "back"}, loses=EVERYWHERE).feedback(
    "You do not rescale, so the probabilities that remain do not sum to 1. Divide them by their sum."
)
right.mistake(
    "left_in_sorted_order", {"torch.zeros_like(probabilities).scatter(-1, places, kept)": "kept"}, loses=EVERYWHERE
).feedback("You return the probabilities in sorted order. Put each one back in the position of its token.")
right.mistake(
    "put_back_by_gather",
    {"torch.zeros_like(probabilities).scatter(-1, places, kept)": "kept.gather(-1, places)"},
    loses=EVERYWHERE,
).feedback(
    "You put the probabilities back with `gather`, which *reads* entries at the sorted positions. You need to *write* "
    "them to those positions."
)
right.mistake("mask_left_in_sorted_order", loses=EVERYWHERE).patch("""
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
+ back = torch.where(before < p, probabilities, 0.0)
""").feedback(
    "You apply a mask that belongs to the sorted probabilities to the unsorted ones. Bring the mask into the order of "
    "the tokens first."
)
right.mistake("keeps_the_least_probable", {"descending=True": "descending=False"}, loses=EVERYWHERE).feedback(
    "You keep the *least* probable tokens. Sort from the most probable down."
)
right.mistake(
    "compares_with_the_most_probable",
    {"before < p": "ordered >= p * ordered[..., :1]"},
    loses=EVERYWHERE,
).feedback(
    "You compare each token with the most probable one, as min-p does. Here `p` refers to the *sum* of what you keep."
)
right.mistake("a_bound_for_each_token", {"before < p": "BOUND"}, loses=EVERYWHERE).for_each(
    BOUND=("ordered >= p", "(ordered >= p) | (before == 0)", "ordered >= 1 - p")
).feedback("You compare each single probability with `p`. Add the probabilities up, and compare the sum.")
right.mistake(
    "a_share_of_the_tokens",
    {"before < p": "torch.arange(ordered.shape[-1]) < p * ordered.shape[-1]"},
    loses=EVERYWHERE,
).feedback(
    "You keep a share `p` of the *number* of tokens. Keep tokens until their *probabilities* sum to at least `p`."
)
right.mistake(
    "keeps_the_other_part",
    {"torch.where((before < p) | (p == 1), ordered, 0.0)": "torch.where(before < p, 0.0, ordered)"},
    loses=EVERYWHERE,
).feedback("You drop the tokens that should be kept, and keep those that should be dropped.")
right.mistake("stops_at_the_rest", {"before < p": "before < 1 - p"}, loses=EVERYWHERE).feedback(
    "You keep tokens until they sum to `1 - p`. The tokens that you *keep* have to sum to at least `p`."
)
right.mistake("adds_up_before_sorting", loses=EVERYWHERE).patch("""
- ordered, places = probabilities.sort(dim=-1, descending=True)
- before = ordered.cumsum(dim=-1) - ordered
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
+ before = probabilities.cumsum(dim=-1) - probabilities
+ back = torch.where(before < p, probabilities, 0.0)
""").feedback(
    "You add up the probabilities in the order of the vocabulary. Sort them first, from the most probable down."
)
right.mistake(
    "softmax_of_probabilities",
    {"back / back.sum(dim=-1, keepdim=True)": "torch.softmax(back, dim=-1)"},
    loses=EVERYWHERE,
).feedback(
    "You apply softmax to probabilities, so the dropped tokens get a share again. Divide by the sum, or apply softmax "
    "to logits with −∞ for the dropped tokens."
)
right.mistake(
    "zeroes_the_logits",
    {
        "return back / back.sum(dim=-1, keepdim=True)": "return torch.softmax(torch.where(back > 0, logits, 0.0), "
        "dim=-1)"
    },
    loses=EVERYWHERE,
).feedback(
    "You set the logits of dropped tokens to 0. A logit of 0 still gives a probability above 0; a logit of −∞ gives 0."
)
right.mistake(
    "returns_logits",
    {"return back / back.sum(dim=-1, keepdim=True)": 'return torch.where(back > 0, logits, float("-inf"))'},
    loses=EVERYWHERE,
).feedback("You return logits, with −∞ for the dropped tokens. Return probabilities.")
right.mistake(
    "returns_log_probabilities",
    {"return back / back.sum(dim=-1, keepdim=True)": "return (back / back.sum(dim=-1, keepdim=True)).log()"},
    loses=EVERYWHERE,
).feedback("You return the logarithms of the probabilities. Return the probabilities themselves.")
right.mistake(
    "returns_a_mask",
    {"return back / back.sum(dim=-1, keepdim=True)": "return (back > 0).to(logits.dtype)"},
    loses=EVERYWHERE,
).feedback("You return 1 for a kept token and 0 for any other. Return the kept tokens' probabilities, rescaled.")
right.mistake(
    "returns_token_ids",
    {"return back / back.sum(dim=-1, keepdim=True)": "return torch.multinomial(back.reshape(-1, back.shape[-1]), 1)"},
    loses=EVERYWHERE,
).feedback("You draw a token. Return the distribution from which it would be drawn.")
right.mistake("takes_logits_for_probabilities", {"torch.softmax(logits, dim=-1)": "logits"}, loses=EVERYWHERE).feedback(
    "You use the logits as if they were probabilities. Apply softmax first."
)
right.mistake(
    scores.softmax_twice,
    {"torch.softmax(logits, dim=-1)": "torch.softmax(torch.softmax(logits, dim=-1), dim=-1)"},
    loses=EVERYWHERE,
).feedback("You apply softmax twice, which makes the probabilities nearly equal. Apply it once, to the logits.")
right.mistake(
    "exponentials_overflow",
    {"torch.softmax(logits, dim=-1)": "torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)"},
    loses=SIZES,
    clause="impossible",
).feedback(
    "Large logits give NaN, because `exp` of a number above 88.7 overflows in float32. `torch.softmax` subtracts the "
    "largest logit first."
)
right.mistake("drops_improbable_tokens_at_1", {" | (p == 1)": ""}, loses=SIZES, clause="every").feedback(
    "With `p` = 1 you drop very improbable tokens, because the sum of the others is rounded to 1. `p` = 1 has to keep "
    "every token: treat it separately."
)
right.mistake("probabilities_of_nothing", loses=SIZES).patch("""
- probabilities = torch.softmax(logits, dim=-1)
+ probabilities = torch.softmax(logits, dim=-1) * (1 - EPS) + EPS / logits.shape[-1]
""").for_each(EPS=(1e-2, 1e-3)).feedback(
    "You add a small number to every probability. A token with a logit of −∞ has the probability 0."
)
right.mistake(
    "softmax_over_rows", {"torch.softmax(logits, dim=-1)": "torch.softmax(logits, dim=0)"}, loses=ROWS
).feedback("Your softmax runs along the first dimension. The tokens are in the last dimension.")
right.mistake("sorts_along_the_first_dimension", loses=ROWS).patch("""
- ordered, places = probabilities.sort(dim=-1, descending=True)
- before = ordered.cumsum(dim=-1) - ordered
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
+ ordered, places = probabilities.sort(dim=0, descending=True)
+ before = ordered.cumsum(dim=0) - ordered
+ back = torch.zeros_like(probabilities).scatter(0, places, torch.where((before < p) | (p == 1), ordered, 0.0))
+ back = torch.where(KEPT, probabilities, 0.0)
""").for_each(KEPT=("back > 0", "(back > 0) | (probabilities == probabilities.amax(dim=-1, keepdim=True))")).feedback(
    "You sort and add up along the first dimension. The tokens are in the last dimension."
)
right.mistake("one_set_for_all_rows", loses=ROWS).patch("""
- probabilities = torch.softmax(logits, dim=-1)
+ shape, logits = logits.shape, logits.reshape(-1, logits.shape[-1])
+ probabilities = torch.softmax(logits, dim=-1)
@@
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
- return back / back.sum(dim=-1, keepdim=True)
+ back = torch.zeros_like(probabilities).scatter(-1, places, kept)
+ back = torch.where(back[:1] > 0, probabilities, 0.0)
+ return (back / back.sum(dim=-1, keepdim=True)).reshape(shape)
""").feedback("You keep the first row's tokens in all rows. Each row has its own set.")
right.mistake("rescales_by_everything", {"back.sum(dim=-1, keepdim=True)": "back.sum()"}, loses=ROWS).feedback(
    "You divide by the sum of all rows together. Each row sums to 1 by itself: sum over the last dimension."
)
right.mistake(shapes.dimension_lost, {"back.sum(dim=-1, keepdim=True)": "back.sum(dim=-1)"}, loses=ROWS).feedback(
    "Your sum has lost its dimension, so it does not broadcast with the rows that it came from. Keep it with "
    "`keepdim=True`."
)
right.mistake(shapes.result_squeezed, loses=ROWS)
right.mistake(arguments.not_refused("You do not raise a ValueError for a `p` of 0 or below, or above 1."), loses=ERROR)
right.mistake(arguments.unchecked("refuses_one_side_only"), {"not 0 < p <= 1": "SIDE"}, loses=ERROR).for_each(
    SIDE=("p > 1", "p <= 0")
).feedback(
    "You refuse a `p` that is too large or one that is too small, but not both. It has to be above 0 and at most 1."
)
right.mistake(
    arguments.unchecked("accepts_zero"), {"not 0 < p <= 1": "not 0 <= p <= 1"}, loses=ERROR, clause="share"
).feedback("You accept a `p` of 0. Raise a ValueError: `p` has to be above 0.")
right.mistake(arguments.valid_refused("refuses_one"), {"0 < p <= 1": "0 < p < 1"}, loses=(KEPT, ERROR)).feedback(
    "You refuse a `p` of 1. It is valid and keeps every token."
)
right.mistake(arguments.asserts(), loses=ERROR, clause="errors")
right.mistake(arguments.wrong_error("TypeError"), loses=ERROR)
right.mistake(arguments.error_without_name(), loses=ERROR)
right.mistake(arguments.argument_changed("fills_the_logits", what="`logits`"), loses=ROWS).patch("""
- return back / back.sum(dim=-1, keepdim=True)
+ return torch.softmax(logits.detach().masked_fill_(back == 0, float("-inf")) + 0 * back, dim=-1)
""").feedback(
    "You write −∞ into the caller's logits. Methods that end in `_` change a tensor in place: use `masked_fill`."
)
right.mistake(
    gradients.cut("cuts_gradients_off", what="the logits"),
    {"torch.softmax(logits, dim=-1)": "torch.softmax(logits.detach(), dim=-1)"},
    loses=FORM,
    clause="gradients",
)
right.mistake(
    gradients.treated_as_constant(what="the sum of what is kept", of="the logits"),
    {"back / back.sum(dim=-1, keepdim=True)": "back / back.sum(dim=-1, keepdim=True).detach()"},
    loses=FORM,
)
right.mistake(numbers.computed_in_float32, loses=FORM)
right.mistake(numbers.result_float32, loses=FORM)
right.mistake(
    numbers.default_device(where="`logits`"),
    {"torch.zeros_like(probabilities)": "torch.zeros(probabilities.shape, dtype=logits.dtype)"},
    loses=FORM,
    clause="device",
)
right.mistake("mask_put_back_by_gather", loses=EVERYWHERE).patch("""
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
+ back = torch.where(((before < p) | (p == 1)).gather(-1, places), probabilities, 0.0)
""").feedback(
    "You use the sorting order where you need its inverse, so other tokens are kept. Sorting gives the token at each "
    "rank, not the rank of each token."
)
right.mistake(
    "softmax_of_what_is_kept",
    {"back / back.sum(dim=-1, keepdim=True)": "torch.softmax(back.masked_fill(back == 0, -torch.inf), dim=-1)"},
    loses=EVERYWHERE,
).feedback("You apply softmax to the probabilities that are kept, which makes them nearly equal. Divide by their sum.")
right.mistake(
    "makes_the_kept_ones_equal",
    {"back / back.sum(dim=-1, keepdim=True)": "(back > 0).to(logits.dtype) / (back > 0).sum(dim=-1, keepdim=True)"},
    loses=EVERYWHERE,
).feedback("You give all kept tokens the same probability. Divide their own probabilities by their sum.")
right.mistake(arguments.unchecked("keeps_one_token_at_zero"), loses=ERROR).patch("""
- if not 0 < p <= 1:
+ if not 0 <= p <= 1:
@@
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
+ kept = torch.where((before < p) | (p == 1) | (before == 0), ordered, 0.0)
""").feedback("You accept a `p` of 0 and keep the most probable token. Raise a ValueError: `p` has to be above 0.")
right.mistake("as_many_in_every_row", loses=ROWS).patch("""
- kept = torch.where((before < p) | (p == 1), ordered, 0.0)
+ count = ((before < p) | (p == 1)).sum(dim=-1).MOST()
+ kept = torch.where(torch.arange(logits.shape[-1], device=logits.device) < count, ordered, 0.0)
""").for_each(MOST=("max", "min")).feedback(
    "You keep the same number of tokens in every row. How many tokens it takes to reach `p` depends on the row."
)
right.mistake(arguments.argument_changed("fills_the_logits_without_gradients", what="`logits`"), loses=ROWS).patch("""
- return back / back.sum(dim=-1, keepdim=True)
+ FILL
+ return torch.softmax(logits, dim=-1)
""").for_each(
    FILL=(
        "logits.data[back == 0] = -torch.inf",
        "logits[back == 0] = -torch.inf",
        "logits.reshape(-1, logits.shape[-1]).masked_fill_((back == 0).flatten(0, -2), -torch.inf)",
    )
).feedback("You write −∞ into the caller's logits. Assigning to entries changes a tensor in place: use `masked_fill`.")
right.mistake(results.nothing_returned, {"return back / back.sum": "back / back.sum"}, loses=KEPT)
right.mistake("adds_up_logits", loses=EVERYWHERE).patch("""
- before = ordered.cumsum(dim=-1) - ordered
+ scores = logits.gather(-1, places)
+ before = scores.cumsum(dim=-1) - scores
""").feedback("You add up logits. Add up probabilities, which are positive and sum to 1.")
right.mistake(
    "loses_the_leading_dimensions",
    {"back / back.sum(dim=-1, keepdim=True)": "(back / back.sum(dim=-1, keepdim=True)).reshape(-1, back.shape[-1])"},
    loses=ROWS,
).feedback("You lose the leading dimensions: your result is `(rows, N)`. It has to have the shape of `logits`.")
right.mistake(gradients.overwritten_before_backward(what="the probabilities"), loses=FORM).patch("""
- return back / back.sum(dim=-1, keepdim=True)
+ probabilities[back == 0] = 0.0
+ return probabilities / probabilities.sum(dim=-1, keepdim=True)
""")
right.mistake(numbers.result_float64, loses=FORM, clause="dtype")
right.mistake("sorts_all_rows_together", loses=ROWS).patch("""
- probabilities = torch.softmax(logits, dim=-1)
- ordered, places = probabilities.sort(dim=-1, descending=True)
+ probabilities = torch.softmax(logits, dim=-1)
+ ordered, places = (probabilities / SCALE).flatten().sort(descending=True)
@@
- back = torch.zeros_like(probabilities).scatter(-1, places, kept)
- return back / back.sum(dim=-1, keepdim=True)
+ back = torch.zeros_like(ordered).scatter(-1, places, kept).reshape(logits.shape)
+ return back / back.sum(dim=-1, keepdim=True)
""").for_each(SCALE=("1", "probabilities.sum()")).feedback(
    "You sort and add up the probabilities of all rows together. Each row is a distribution of its own: work along "
    "the last dimension."
)
right.mistake("one_distribution_for_all_rows", loses=ROWS).patch("""
- probabilities = torch.softmax(logits, dim=-1)
+ shape, logits = logits.shape, logits.flatten()
+ probabilities = torch.softmax(logits, dim=-1)
@@
- return back / back.sum(dim=-1, keepdim=True)
+ return (back / back.sum(dim=-1, keepdim=True)).reshape(shape)
""").feedback(
    "You treat all rows together as one distribution, which sums to 1 as a whole. Each row sums to 1 by itself: work "
    "along the last dimension."
)
right.mistake(
    "adds_up_along_the_first_dimension", {"ordered.cumsum(dim=-1)": "ordered.cumsum(dim=0)"}, loses=ROWS
).feedback(
    "You add up along the first dimension. That mixes the rows: the sorted tokens of a row are in the last dimension."
)
right.mistake(
    "leaves_traces",
    {"return back / back.sum(dim=-1, keepdim=True)": "return (back / back.sum(dim=-1, keepdim=True)).clamp(min=1e-12)"},
    loses=KEPT,
    clause="zeros",
).feedback("You leave a tiny probability to tokens that are not kept. Theirs is exactly 0, so that none is ever drawn.")
