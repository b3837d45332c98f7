"""Known mistakes in `attend_by_roles`."""

from ...shared.families import arguments, gradients, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import attend_by_roles

VALUES, GRADIENTS, FORM = "output and", "gradients", "float64"

right = attend_by_roles.alternative("three_lines")

right.mistake("sums_the_words", {"weights @ v": "weights @ x"}, loses=VALUES).feedback(
    "You sum the words' vectors themselves. The output is a sum of *values*: `x` times `W_v`."
)
right.mistake("sums_the_keys", {"weights @ v": "weights @ k"}, loses=VALUES).feedback(
    "You sum the keys. A key is for being found; what a word gives is its value, `x` times `W_v`."
)
right.mistake("sums_the_queries", {"weights @ v": "weights @ q"}, loses=VALUES).feedback(
    "You sum the queries. A query asks; what a word gives is its value, `x` times `W_v`."
)
right.mistake("scores_the_words", {"q @ k.T": "x @ x.T"}, loses=VALUES).feedback(
    "You score the words' vectors themselves, as in `attend_all`. Score queries against keys."
)
right.mistake("scores_queries_against_queries", {"q @ k.T": "q @ q.T"}, loses=VALUES).feedback(
    "You score queries against queries, so each word finds itself again. Score them against keys, which `W_k` makes."
)
right.mistake("scores_keys_against_keys", {"q @ k.T": "k @ k.T"}, loses=VALUES).feedback(
    "You score keys against keys and do not use the queries. Score *queries* against keys."
)
right.mistake(scores.keys_times_queries, {"q @ k.T": "k @ q.T"}, loses=VALUES).feedback(
    "You exchange queries and keys: the rows of your scores are keys. `W_q` makes queries, and they come first."
)
right.mistake("scores_against_the_values", {"q @ k.T": "q @ v.T"}, loses=VALUES).feedback(
    "You score queries against values. Values are only summed; queries are scored against keys."
)
right.mistake("scores_against_the_words", {"q @ k.T": "q @ x.T"}, loses=VALUES).feedback(
    "You score queries against the words' vectors themselves. Score them against the keys, `x` times `W_k`."
)
right.mistake(
    "turns_the_matrices", {"x @ W_q, x @ W_k, x @ W_v": "x @ W_q.T, x @ W_k.T, x @ W_v.T"}, loses=VALUES
).feedback("You turn the matrices on their side. They are (D, Dk) and (D, Dv), so `x`, (T, D), fits them unchanged.")
right.mistake(
    "multiplies_from_the_left", {"x @ W_q, x @ W_k, x @ W_v": "W_q @ x, W_k @ x, W_v @ x"}, loses=VALUES
).feedback("You multiply in the wrong order. A word is a row of `x`, so `x` comes first, and then the matrix.")
right.mistake("does_not_turn_the_keys", {"q @ k.T": "q @ k"}, loses=VALUES).feedback(
    "You multiply queries and keys without turning the keys. A product takes rows of the first and *columns* of "
    "the second."
)
right.mistake("scores_the_entries", {"q @ k.T": "q.T @ k"}, loses=VALUES).feedback(
    "You turn the queries, so the scores are (Dk, Dk). Turn the keys: one row per query and one column per key, (T, T)."
)
right.mistake("normalises_the_columns", {"dim=-1": "dim=0"}, loses=VALUES).feedback(
    "Your softmax runs down the columns, so each column of the weights sums to 1. Each row must sum to 1."
)
right.mistake(scores.softmax_missing, {"torch.softmax(q @ k.T, dim=-1)": "q @ k.T"}, loses=VALUES)
right.mistake(
    scores.softmax_over_everything,
    {"torch.softmax(q @ k.T, dim=-1)": "torch.softmax((q @ k.T).flatten(), dim=0).view(len(x), -1)"},
    loses=VALUES,
)
right.mistake(scores.softmax_twice, {"q @ k.T": "torch.softmax(q @ k.T, dim=-1)"}, loses=VALUES)
right.mistake("does_not_divide", {"torch.softmax(q @ k.T, dim=-1)": "torch.exp(q @ k.T)"}, loses=VALUES).feedback(
    "The rows of your weights do not sum to 1. Divide the exponentials of each row by their sum."
)
right.mistake("takes_the_logarithms", {"torch.softmax": "torch.log_softmax"}, loses=VALUES).feedback(
    "Your weights are below 0, because `log_softmax` returns their logarithms. Use `softmax`."
)
right.mistake("scales_the_scores", {"q @ k.T": "q @ k.T / q.shape[-1] ** 0.5"}, loses=VALUES).feedback(
    "You divide the scores by the root of Dk. The root comes in section 6; here a score is the plain dot product."
)
right.mistake(
    "hides_later_words",
    {"q @ k.T": "(q @ k.T).masked_fill(torch.ones(len(x), len(x), device=x.device).triu(1).bool(), -torch.inf)"},
    loses=VALUES,
).feedback("You hide later words. That comes in section 7; here every word may look at every word.")
right.mistake("turns_the_weights", {"weights @ v": "weights.T @ v"}, loses=VALUES).feedback(
    "You turn the weights on their side before you multiply. Row `i` of the weights belongs to row `i` of the output."
)
right.mistake("mixes_with_the_scores", {"weights @ v": "q @ k.T @ v"}, loses=VALUES).feedback(
    "You sum the values with the scores instead of the weights. Multiply the *weights* by the values."
)
right.mistake(results.output_alone, {"weights @ v, weights": "weights @ v"}, loses=VALUES)
right.mistake(results.weights_first, {"weights @ v, weights": "weights, weights @ v"}, loses=VALUES)
right.mistake(results.scores_for_weights, {"weights @ v, weights": "weights @ v, q @ k.T"}, loses=VALUES)
right.mistake("returns_the_roles", {"return weights @ v, weights": "return q, k, v"}, loses=VALUES).feedback(
    "You return queries, keys and values. Go on: score, apply softmax, and sum the values."
)
right.mistake(results.nothing_returned, {"return weights @ v, weights": "weights @ v, weights"}, loses=VALUES)
right.mistake(
    gradients.weights_detached("detaches_the_weights", use="average with"),
    {"q @ k.T, dim=-1)": "q @ k.T, dim=-1).detach()"},
    loses=GRADIENTS,
)
right.mistake(
    gradients.cut("detaches_the_values", what="the values"), {"weights @ v,": "weights @ v.detach(),"}, loses=GRADIENTS
)
right.mistake(gradients.cut("detaches_the_keys", what="the keys"), {"q @ k.T": "q @ k.detach().T"}, loses=GRADIENTS)
right.mistake(numbers.result_float32(of="the arguments"), loses=FORM)
right.mistake(numbers.result_float64(of="the arguments"), loses=FORM)
right.mistake(numbers.computed_in_float32(what="the vectors"), loses=FORM)
right.mistake(arguments.argument_changed(what="`x`"), loses="arguments").patch("""
- return weights @ v, weights
+ x.data.add_(1)
+ return weights @ v, weights
""")
keeps_its_last_result(right, loses=VALUES)
