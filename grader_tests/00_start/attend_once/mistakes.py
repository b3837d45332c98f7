"""Known mistakes in `attend_once`."""

from ...shared.families import arguments, gradients, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import attend_once

VALUES, GRADIENTS, FORM = "scores, weights", "gradients", "float64"

right = attend_once.alternative("three_steps")

right.mistake(
    "plain_average", {"torch.softmax(scores, dim=0)": "torch.full_like(scores, 1 / len(x))"}, loses=VALUES
).feedback(
    "You give every word the same weight, so this is the plain average again. The weights are the softmax of the "
    "scores."
)
right.mistake("ignores_the_query", {"x @ query": "x @ x[ROW]"}, loses=VALUES).for_each(ROW=("-1", "0")).feedback(
    "You use a row of `x` instead of `query`. The vector that asks is an argument, and need not be one of the words."
)
right.mistake("multiplies_without_the_sum", {"x @ query": "x * query"}, loses=VALUES).feedback(
    "You multiply entry by entry, but do not add up. A score is *one* number per word: the sum of the products."
)
right.mistake("sums_over_the_words", {"x @ query": "(x * query).sum(dim=0)"}, loses=VALUES).feedback(
    "You sum the products over the words. A score is the sum over the entries of one word, so sum along each row."
)
right.mistake("sums_everything", {"x @ query": "(x * query).sum()"}, loses=VALUES).feedback(
    "You add up all products of all words. Each word has a score of its own: sum along each row."
)
right.mistake(scores.softmax_missing, {"torch.softmax(scores, dim=0)": "scores"}, loses=VALUES).feedback(
    "You leave out the softmax, so your weights are the scores. Weights are positive and sum to 1."
)
right.mistake(
    "divides_the_scores_by_their_sum", {"torch.softmax(scores, dim=0)": "scores / scores.sum()"}, loses=VALUES
).feedback("You divide the scores themselves by their sum. Scores may be negative: take their exponentials first.")
right.mistake("does_not_divide", {"torch.softmax(scores, dim=0)": "torch.exp(scores)"}, loses=VALUES).feedback(
    "Your weights do not sum to 1. Divide the exponentials by their sum, or let `torch.softmax` do both."
)
right.mistake(
    scores.softmax_twice,
    {"torch.softmax(scores, dim=0)": "torch.softmax(torch.softmax(scores, dim=0), dim=0)"},
    loses=VALUES,
)
right.mistake("takes_the_logarithms", {"torch.softmax": "torch.log_softmax"}, loses=VALUES).feedback(
    "Your weights are below 0, because `log_softmax` returns their logarithms. Use `softmax`."
)
right.mistake(
    "takes_the_best_word_only", {"torch.softmax(scores, dim=0)": "(scores == scores.max()).to(x.dtype)"}, loses=VALUES
).feedback("You give all the weight to the word with the highest score. Softmax gives every word a share.")
right.mistake("scales_the_scores", {"x @ query": "x @ query / len(query) ** 0.5"}, loses=VALUES).feedback(
    "You divide the scores by the root of D. The root comes in section 6; here a score is the plain dot product."
)
right.mistake(
    "compares_by_cosine", {"x @ query": "F.normalize(x, dim=-1) @ F.normalize(query, dim=-1)"}, loses=VALUES
).feedback(
    "You divide by the lengths of the vectors, so your scores are cosines. Here a score is the plain dot product."
)
right.mistake("mixes_with_the_scores", {"weights @ x": "scores @ x"}, loses=VALUES).feedback(
    "You sum the rows with the scores instead of the weights. The context is the sum of the rows, each times its "
    "*weight*."
)
right.mistake("divides_the_context_by_the_words", {"weights @ x": "weights @ x / len(x)"}, loses=VALUES).feedback(
    "You divide the context by the number of words. The weights sum to 1, so the sum is an average already."
)
right.mistake("weighs_the_query", {"weights @ x": "weights.sum() * query"}, loses=VALUES).feedback(
    "You return the query itself as the context. Sum the rows of `x`, each times its weight."
)
right.mistake("leaves_the_rows_unsummed", {"weights @ x": "weights[:, None] * x"}, loses=VALUES).feedback(
    "Your context still has one row per word. Add up the rows after each is multiplied by its weight."
)
right.mistake("adds_the_query", {"weights @ x": "query + weights @ x"}, loses=VALUES).feedback(
    "You add the query to the context. The context is the weighted sum of the rows alone."
)
right.mistake(
    "returns_the_context_alone", {"return scores, weights, context": "return context"}, loses=VALUES
).feedback("You return the context alone. Return all three: `scores, weights, context`.")
right.mistake("returns_no_scores", {"return scores, weights, context": "return ORDER"}, loses=VALUES).for_each(
    ORDER=("weights, context", "context, weights")
).feedback("You return two results. Return all three: `scores, weights, context`.")
right.mistake("returns_another_order", {"return scores, weights, context": "return ORDER"}, loses=VALUES).for_each(
    ORDER=(
        "context, weights, scores",
        "weights, scores, context",
        "context, scores, weights",
        "scores, context, weights",
    )
).feedback("You return the three results in another order. The order is `scores, weights, context`.")
right.mistake(results.nothing_returned, {"return scores, weights": "scores, weights"}, loses=VALUES)
right.mistake(
    gradients.cut("detaches_the_query", what="the query"), {"x @ query": "x @ query.detach()"}, loses=GRADIENTS
)
right.mistake(
    gradients.cut("rebuilds_the_scores", what="the query"),
    {"x @ query": "torch.tensor((x @ query).tolist(), dtype=x.dtype, device=x.device)"},
    loses=GRADIENTS,
)
right.mistake(
    gradients.weights_detached("detaches_the_weights", use="use"),
    {"torch.softmax(scores, dim=0)": "torch.softmax(scores, dim=0).detach()"},
    loses=GRADIENTS,
)
right.mistake(numbers.result_float32(of="the arguments"), loses=FORM)
right.mistake(numbers.result_float64(of="the arguments"), loses=FORM)
right.mistake(numbers.computed_in_float32(what="the vectors"), loses=FORM)
right.mistake(arguments.argument_changed(what="`x`"), loses="arguments").patch("""
- context = weights @ x
+ context = weights @ x
+ x.data.mul_(weights.detach()[:, None])
""")
keeps_its_last_result(right, loses=VALUES)
