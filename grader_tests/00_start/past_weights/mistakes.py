"""Known mistakes in `past_weights`."""

from ...shared.families import arguments, gradients, masks, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import past_weights

VALUES, ZEROS, GRADIENTS, FORM = "weights up", "exactly", "gradients", "float64"

right = past_weights.alternative("three_lines")

right.mistake(masks.ignored, {"scores.masked_fill(later, -torch.inf)": "scores"}, loses=VALUES).feedback(
    "You do not hide later words. Change their scores before the softmax, and keep what `masked_fill` returns: "
    "it makes a "
    "new tensor."
)
right.mistake(masks.diagonal_blocked, {"triu(1)": "triu(0)"}, loses=VALUES).feedback(
    "You hide the diagonal too, so nothing is left for row 0, which becomes NaN. Each word may look at itself."
)
right.mistake(masks.next_key_open, {"triu(1)": "triu(2)"}, loses=VALUES).feedback(
    "You let each word look at the word after it. Your triangle begins one column too far to the right."
)
right.mistake(masks.inverted("hides_earlier_words"), {"triu(1)": "EARLIER"}, loses=VALUES).for_each(
    EARLIER=("tril(-1)", "triu(1).T")
).feedback("You hide the earlier words instead of the later ones. Later words are to the right of the diagonal.")
right.mistake("keeps_later_words_only", {"triu(1)": "tril()"}, loses=VALUES).feedback(
    "You hide a word itself and the words before it, and keep the later ones. It is the other way round."
)
right.mistake(masks.after_softmax, loses=VALUES).patch("""
- scores = scores.masked_fill(later, -torch.inf)
- return torch.softmax(scores, dim=-1)
+ return torch.softmax(scores, dim=-1).masked_fill(later, 0.0)
""").feedback(
    "You set later weights to 0 after the softmax, so the others no longer sum to 1. Change the *scores*, before it."
)
right.mistake(masks.blocked_by_small_number("fills_with_zero"), {"-torch.inf": "SMALL"}, loses=VALUES).for_each(
    SMALL=("0.0", "-1e-12", "-1e-9")
).feedback("You set later scores to 0 or nearly 0. The exponential of 0 is 1, so these words still get a weight.")
right.mistake("fills_with_plus_infinity", {"-torch.inf": "torch.inf"}, loses=VALUES).feedback(
    "You set later scores to +∞, which gives NaN. Which score has the exponential 0?"
)
right.mistake("fills_with_a_moderate_number", {"-torch.inf": "MODERATE"}, loses=ZEROS, clause="zeros").for_each(
    MODERATE=("-50.0", "-60.0", "-80.0")
).feedback(
    "Your later weights are small, but not 0, because the score you fill in is not low enough. Which score has "
    "the exponential 0?"
)
right.mistake("fills_with_a_small_number", {"-torch.inf": "MODERATE"}, loses=VALUES).for_each(
    MODERATE=("-1.0", "-10.0")
).feedback(
    "You set later scores to a number that others reach, so these words still get a weight. Which score has the "
    "exponential 0?"
)
right.mistake("multiplies_by_minus_infinity", loses=VALUES).patch("""
- scores = scores.masked_fill(later, -torch.inf)
+ scores = scores + later * -torch.inf
""").feedback("You multiply by −∞, and 0 times ∞ is NaN. `masked_fill` puts −∞ only where the mask is True.")
right.mistake("hides_scores_of_zero", loses=VALUES).patch("""
- later = torch.ones_like(scores).triu(1).bool()
+ later = scores.tril() == 0
""").feedback(
    "You also hide an earlier word whose score is 0. The position decides, not the score: compare a triangle of *ones*."
)
right.mistake("looks_for_scores", loses=VALUES).patch("""
- later = torch.ones_like(scores).triu(1).bool()
+ later = scores.triu(1).bool()
""").feedback(
    "You do not hide a later word whose score is 0. The position decides, not the score: use a triangle of *ones*."
)
right.mistake(scores.softmax_over_queries("normalises_the_columns"), {"dim=-1": "dim=0"}, loses=VALUES).feedback(
    "Your softmax runs down the columns. Each *row* sums to 1: use the last dimension."
)
right.mistake(scores.softmax_missing, {"torch.softmax(scores, dim=-1)": "scores"}, loses=VALUES).feedback(
    "You return the scores with −∞ in them. Apply softmax to each row, so that they become weights."
)
right.mistake("does_not_divide", {"torch.softmax(scores, dim=-1)": "torch.exp(scores)"}, loses=VALUES).feedback(
    "The rows of your weights do not sum to 1. Divide the exponentials of each row by their sum."
)
right.mistake("takes_the_logarithms", {"torch.softmax": "torch.log_softmax"}, loses=VALUES).feedback(
    "You return the logarithms of the weights, because you use `log_softmax`. Use `softmax`."
)
right.mistake(
    "scales_the_scores",
    {"masked_fill(later, -torch.inf)": "masked_fill(later, -torch.inf) / len(scores) ** 0.5"},
    loses=VALUES,
).feedback("You divide the scores by a root. `rooted_scores` has done this already, with the width of the keys.")
right.mistake(
    scores.softmax_over_everything,
    {"torch.softmax(scores, dim=-1)": "torch.softmax(scores.flatten(), dim=0).view(len(scores), -1)"},
    loses=VALUES,
)
right.mistake(scores.softmax_twice, loses=VALUES).patch("""
- scores = scores.masked_fill(later, -torch.inf)
+ scores = torch.softmax(scores, dim=-1).masked_fill(later, -torch.inf)
""")
right.mistake("returns_the_mask", {"torch.softmax(scores, dim=-1)": "later"}, loses=VALUES).feedback(
    "You return the mask. Use it to change the scores, and then apply softmax."
)
right.mistake("shares_equally", {"scores.masked_fill": "(0 * scores).masked_fill"}, loses=VALUES).feedback(
    "All words up to the diagonal get equal weights, because your scores are lost. Keep the scores up to the diagonal."
)
right.mistake(results.nothing_returned, {"return torch": "torch"}, loses=VALUES)
right.mistake(
    gradients.cut("detaches_the_scores", what="the scores"),
    {"scores.masked_fill": "scores.detach().masked_fill"},
    loses=GRADIENTS,
    clause="gradients",
)
right.mistake(numbers.result_float32(of="the scores"), loses=FORM)
right.mistake(numbers.result_float64(of="the scores"), loses=FORM, clause="dtype")
right.mistake(numbers.computed_in_float32(what="the scores"), loses=FORM)
right.mistake(
    numbers.default_device(where="`scores`", what="the mask"),
    {"torch.ones_like(scores)": "torch.ones(scores.shape)"},
    loses=FORM,
    clause="device",
)
right.mistake(
    arguments.argument_changed("fills_the_scores", what="the scores"), loses="scores, contiguous", clause="purity"
).patch("""
- scores = scores.masked_fill(later, -torch.inf)
+ kept = scores.masked_fill(later, -torch.inf)
+ scores.data.masked_fill_(later, -torch.inf)
+ scores = kept
""")
right.mistake(
    arguments.argument_changed("fills_the_scores_where_gradients_are_needed", what="the scores"),
    loses=("scores, contiguous", "gradients"),
).patch("""
- scores = scores.masked_fill(later, -torch.inf)
+ scores.masked_fill_(later, -torch.inf)
""")
keeps_its_last_result(right, loses=VALUES)
