"""Known mistakes in `attend_all`."""

from ...shared.families import arguments, gradients, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import attend_all

VALUES, GRADIENTS, FORM = "output and", "gradients", "float64"

right = attend_all.alternative("two_steps")

right.mistake("normalises_the_columns", {"dim=-1": "dim=0"}, loses=VALUES).feedback(
    "Your softmax runs down the columns, so each column of the weights sums to 1. Each row must sum to 1."
)
right.mistake("does_not_turn_x", {"x @ x.T": "x @ x"}, loses=VALUES).feedback(
    "You multiply `x` by `x` itself. A product takes rows of the first and *columns* of the second: turn the "
    "second one."
)
right.mistake("compares_the_entries", {"x @ x.T": "x.T @ x"}, loses=VALUES).feedback(
    "You compare the columns of `x`, so the scores are (D, D). Compare its rows, which are the words: (T, T)."
)
right.mistake(scores.softmax_missing, {"torch.softmax(x @ x.T, dim=-1)": "x @ x.T"}, loses=VALUES)
right.mistake(
    scores.softmax_over_everything,
    {"torch.softmax(x @ x.T, dim=-1)": "torch.softmax((x @ x.T).flatten(), dim=0).view(len(x), -1)"},
    loses=VALUES,
)
right.mistake(scores.softmax_twice, {"x @ x.T": "torch.softmax(x @ x.T, dim=-1)"}, loses=VALUES)
right.mistake("does_not_divide", {"torch.softmax(x @ x.T, dim=-1)": "torch.exp(x @ x.T)"}, loses=VALUES).feedback(
    "The rows of your weights do not sum to 1. Divide the exponentials of each row by their sum."
)
right.mistake(
    "divides_the_scores_by_their_sum",
    {"torch.softmax(x @ x.T, dim=-1)": "x @ x.T / (x @ x.T).sum(-1, keepdim=True)"},
    loses=VALUES,
).feedback("You divide the scores themselves by their sum. Scores may be negative: take their exponentials first.")
right.mistake("takes_the_logarithms", {"torch.softmax": "torch.log_softmax"}, loses=VALUES).feedback(
    "Your weights are below 0, because `log_softmax` returns their logarithms. Use `softmax`."
)
right.mistake("scales_the_scores", {"x @ x.T": "x @ x.T / x.shape[-1] ** 0.5"}, loses=VALUES).feedback(
    "You divide the scores by the root of D. The root comes in section 6; here a score is the plain dot product."
)
right.mistake(
    "compares_by_cosine", {"x @ x.T": "F.normalize(x, dim=-1) @ F.normalize(x, dim=-1).T"}, loses=VALUES
).feedback(
    "You divide by the lengths of the vectors, so your scores are cosines. Here a score is the plain dot product."
)
right.mistake(
    "hides_later_words",
    {"x @ x.T": "(x @ x.T).masked_fill(torch.ones(len(x), len(x), device=x.device).triu(1).bool(), -torch.inf)"},
    loses=VALUES,
).feedback("You hide later words. That comes in section 7; here every word may look at every word.")
right.mistake("leaves_itself_out", {"x @ x.T": "(x @ x.T).fill_diagonal_(-torch.inf)"}, loses=VALUES).feedback(
    "You keep each word from looking at itself. Here every word may look at every word, itself included."
)
right.mistake(
    "plain_average", {"torch.softmax(x @ x.T, dim=-1)": "torch.softmax(0 * (x @ x.T), dim=-1)"}, loses=VALUES
).feedback(
    "You give all words the same weight, so this is the plain average again. The weights are the softmax of the scores."
)
right.mistake("turns_the_weights", {"weights @ x": "weights.T @ x"}, loses=VALUES).feedback(
    "You turn the weights on their side before you multiply. Row `i` of the weights belongs to row `i` of the output."
)
right.mistake("mixes_with_the_scores", {"weights @ x": "x @ x.T @ x"}, loses=VALUES).feedback(
    "You sum the rows with the scores instead of the weights. Multiply the *weights* by `x`."
)
right.mistake("adds_the_input", {"weights @ x": "x + weights @ x"}, loses=VALUES).feedback(
    "You add `x` to the output. The output is the weighted sum alone."
)
right.mistake(results.output_alone, {"weights @ x, weights": "weights @ x"}, loses=VALUES)
right.mistake(results.weights_first, {"weights @ x, weights": "weights, weights @ x"}, loses=VALUES)
right.mistake(results.scores_for_weights, {"weights @ x, weights": "weights @ x, x @ x.T"}, loses=VALUES)
right.mistake("returns_three", {"weights @ x, weights": "x @ x.T, weights, weights @ x"}, loses=VALUES).feedback(
    "You return three results, as in `attend_once`. Here there are two: `output, weights`."
)
attend_all.mistake("asks_with_one_word", loses=VALUES).full_code("""
def attend_all(x):
    weights = torch.softmax(x @ x[WORD], dim=0)
    return weights @ x, weights
""").for_each(WORD=("-1", "0")).feedback(
    "Only one word asks. Every row of `x` asks, so output and weights have one row per word."
)
right.mistake(results.nothing_returned, {"return weights @ x, weights": "weights @ x, weights"}, loses=VALUES)
right.mistake(
    gradients.weights_detached("detaches_the_weights", use="average with"),
    {"x @ x.T, dim=-1)": "x @ x.T, dim=-1).detach()"},
    loses=GRADIENTS,
)
right.mistake(
    gradients.cut("detaches_the_rows", what="the rows that are summed"),
    {"weights @ x,": "weights @ x.detach(),"},
    loses=GRADIENTS,
)
right.mistake(numbers.result_float32(of="`x`"), loses=FORM)
right.mistake(numbers.result_float64(of="`x`"), loses=FORM)
right.mistake(numbers.computed_in_float32(what="the vectors"), loses=FORM)
right.mistake(arguments.argument_changed(what="`x`"), loses="x, contiguous").patch("""
- return weights @ x, weights
+ output = weights @ x
+ x.data.copy_(output.detach())
+ return output, weights
""")
keeps_its_last_result(right, loses=VALUES)
