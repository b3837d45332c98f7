"""Known mistakes in `rooted_scores`."""

from ...shared.families import arguments, gradients, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import rooted_scores

VALUES, GRADIENTS, FORM = "scores of", "gradients", "float64"

right = rooted_scores.alternative("one_line")

right.mistake(scores.unscaled, {" / math.sqrt(q.shape[-1])": ""}, loses=VALUES).feedback(
    "You do not divide the scores. Divide them by the square root of Dk, the number of entries of a key."
)
right.mistake(scores.scaled_by_width, {"math.sqrt(q.shape[-1])": "q.shape[-1]"}, loses=VALUES).feedback(
    "You divide by Dk instead of its square root. The scores become too small, and the weights nearly equal."
)
right.mistake(scores.multiplied_by_root, {"/ math": "* math"}, loses=VALUES).feedback(
    "You multiply the scores by the square root of Dk. Divide by it."
)
right.mistake(scores.power_divided, {"/ math.sqrt(q.shape[-1])": "* q.shape[-1] ** -1 / 2"}, loses=VALUES)
right.mistake(
    scores.scaled_by_number_of_keys("scaled_by_the_number_of_words"), {"q.shape[-1]": "WORDS"}, loses=VALUES
).for_each(WORDS=("q.shape[0]", "len(k)", "q.numel()")).feedback(
    "You divide by a root with the number of words in it. Count the *entries* of one query or key: the last "
    "number of the shape."
)
right.mistake("divides_by_a_constant", {"math.sqrt(q.shape[-1])": "CONSTANT"}, loses=VALUES).for_each(
    CONSTANT=("2", "math.sqrt(2)", "8", "32")
).feedback("You divide by a constant, which is right for one width only. Read the width from the shape of `q`.")
right.mistake(
    "takes_the_root_of_the_scores", {"q @ k.T / math.sqrt(q.shape[-1])": "torch.sqrt(q @ k.T)"}, loses=VALUES
).feedback("You take the root of the scores, which is NaN for a negative one. Divide the scores by the root of Dk.")
right.mistake(
    "takes_the_root_of_the_quotient",
    {"q @ k.T / math.sqrt(q.shape[-1])": "torch.sqrt(q @ k.T / q.shape[-1])"},
    loses=VALUES,
).feedback(
    "You divide by Dk and take the root of the result, which is NaN for a negative score. Only Dk is under the root."
)
right.mistake(
    "divides_queries_and_keys",
    {"q @ k.T /": "(q / q.shape[-1] ** 0.5) @ (k / q.shape[-1] ** 0.5).T /"},
    loses=VALUES,
).feedback("You divide three times: queries, keys and scores. Divide once.")
right.mistake(
    "divides_by_the_lengths",
    {"q @ k.T / math.sqrt(q.shape[-1])": "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T"},
    loses=VALUES,
).feedback("You divide by the lengths of the vectors, so your scores are cosines. Divide by the square root of Dk.")
right.mistake(scores.keys_times_queries, {"q @ k.T": "k @ q.T"}, loses=VALUES).feedback(
    "You put keys in the rows of the scores. A row belongs to the word that asks: queries first, then keys."
)
right.mistake("does_not_turn_the_keys", {"k.T": "k"}, loses=VALUES).feedback(
    "You multiply queries and keys without turning the keys. A product takes rows of the first and *columns* of "
    "the second."
)
right.mistake("scores_the_entries", {"q @ k.T": "q.T @ k"}, loses=VALUES).feedback(
    "You turn the queries, so the scores are (Dk, Dk). Turn the keys: one row per query and one column per key, (T, T)."
)
right.mistake("scores_each_word_with_itself", {"q @ k.T": "(q * k).sum(-1)"}, loses=VALUES).feedback(
    "You score each query against the key of its own word only. Score it against all keys: (T, T)."
)
right.mistake(
    "applies_the_softmax",
    {"q @ k.T / math.sqrt(q.shape[-1])": "torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), dim=-1)"},
    loses=VALUES,
).feedback("You return weights. Return the scores, without softmax: the next exercise changes them before it.")
right.mistake("scores_against_queries", {"k.T": "q.T"}, loses=VALUES).feedback(
    "You score queries against queries and do not use the keys. Score queries against `k`."
)
right.mistake(results.nothing_returned, {"return q": "q"}, loses=VALUES)
right.mistake(
    gradients.cut("detaches_the_scores", what="queries and keys"),
    {"q @ k.T /": "(q @ k.T).detach() /"},
    loses=GRADIENTS,
)
right.mistake(gradients.cut("detaches_the_keys", what="the keys"), {"q @ k.T": "q @ k.detach().T"}, loses=GRADIENTS)
right.mistake(numbers.result_float32(of="the arguments"), loses=FORM)
right.mistake(numbers.result_float64(of="the arguments"), loses=FORM)
right.mistake(numbers.computed_in_float32(what="the vectors"), loses=FORM)
right.mistake(arguments.argument_changed(what="the queries"), loses="arguments").patch("""
- return q @ k.T / math.sqrt(q.shape[-1])
+ scores = q @ k.T / math.sqrt(q.shape[-1])
+ q.data.div_(2)
+ return scores
""")
keeps_its_last_result(right, loses=VALUES)
