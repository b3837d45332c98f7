"""Known mistakes in `qk_norm_scores`."""

from ...shared.families import arguments, gradients, numbers, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import qk_norm_scores

VALUES, FORM = "each vector", "gradients"

right = qk_norm_scores.reference_answer("""
def qk_norm_scores(query, key, gain_q, gain_k):
    size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
    size_k = torch.sqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
    q = query / size_q * gain_q
    k = key / size_k * gain_k
    return q @ k.mT / q.shape[-1] ** 0.5
""")

right.mistake(
    "divides_by_the_length",
    {"query.pow(2).mean": "query.pow(2).sum", "key.pow(2).mean": "key.pow(2).sum"},
    loses=VALUES,
).feedback(
    "You divide by the length of a vector, the root of the *sum* of its squares. The root mean square takes their mean."
)
right.mistake("forgets_the_root", {"torch.sqrt(query": "(query", "torch.sqrt(key": "(key"}, loses=VALUES).feedback(
    "You divide by the mean square itself. Divide by its square root."
)
right.mistake("subtracts_the_mean", loses=VALUES).patch("""
+ query, key = query - query.mean(-1, keepdim=True), key - key.mean(-1, keepdim=True)
  size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
""").feedback("You subtract the mean of each vector first, as layer normalisation does. The root mean square keeps it.")
right.mistake("divides_by_the_deviation", loses=VALUES).patch("""
- size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
- size_k = torch.sqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
+ size_q = torch.sqrt(query.var(-1, unbiased=False, keepdim=True) + 1e-6)
+ size_k = torch.sqrt(key.var(-1, unbiased=False, keepdim=True) + 1e-6)
""").feedback("You divide by the standard deviation, which does not count the mean. Use the mean of the squares.")
right.mistake("divides_by_the_mean_absolute_value", loses=VALUES).patch("""
- size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
- size_k = torch.sqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
+ size_q = query.abs().mean(-1, keepdim=True) + 1e-6
+ size_k = key.abs().mean(-1, keepdim=True) + 1e-6
""").feedback("You divide by the mean of the absolute values. The root mean square squares before it takes the mean.")
right.mistake("normalises_the_queries_only", {"key / size_k": "key"}, loses=VALUES).feedback(
    "You normalise the queries but not the keys. Long keys then still make large scores."
)
right.mistake("normalises_the_keys_only", {"query / size_q": "query"}, loses=VALUES).feedback(
    "You normalise the keys but not the queries. Long queries then still make large scores."
)
right.mistake("normalises_nothing", {"key / size_k": "key", "query / size_q": "query"}, loses=VALUES).feedback(
    "You apply the gains but do not normalise. Divide each vector by its own root mean square first."
)
right.mistake(
    "one_size_for_all_vectors",
    {
        "query.pow(2).mean(-1, keepdim=True)": "query.pow(2).mean()",
        "key.pow(2).mean(-1, keepdim=True)": "key.pow(2).mean()",
    },
    loses=VALUES,
).feedback(
    "You use one root mean square for all vectors. Each vector has its own: take the mean over its last dimension."
)
right.mistake(
    "over_the_positions",
    {"query.pow(2).mean(-1": "query.pow(2).mean(-2", "key.pow(2).mean(-1": "key.pow(2).mean(-2"},
    loses=VALUES,
).feedback("You take the mean over the positions. It runs over the entries of one vector, the last dimension.")
right.mistake(
    shapes.dimension_lost,
    {
        "query.pow(2).mean(-1, keepdim=True)": "query.pow(2).mean(-1)",
        "key.pow(2).mean(-1, keepdim=True)": "key.pow(2).mean(-1)",
    },
    loses=VALUES,
).feedback(
    "Your mean of squares has lost its dimension, so it does not broadcast with the vectors. Shapes such as `(3, 4)` "
    "and `(3,)` do not fit. Keep the dimension with `keepdim=True`."
)
right.mistake("forgets_the_gains", {" * gain_q": "", " * gain_k": ""}, loses=VALUES).feedback(
    "You do not use the gains. Multiply the normalised queries by `gain_q` and the normalised keys by `gain_k`."
)
right.mistake("forgets_the_gain_of_keys", {" * gain_k": ""}, loses=VALUES).feedback(
    "You do not use `gain_k`. Multiply the normalised keys by it."
)
right.mistake("forgets_the_gain_of_queries", {" * gain_q": ""}, loses=VALUES).feedback(
    "You do not use `gain_q`. Multiply the normalised queries by it."
)
right.mistake("gains_before_the_norm", loses=VALUES).patch("""
+ query, key = query * gain_q, key * gain_k
  size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
@@
- q = query / size_q * gain_q
- k = key / size_k * gain_k
+ q = query / size_q
+ k = key / size_k
""").feedback(
    "You multiply by the gains before you normalise, which takes part of them away again. Multiply afterwards."
)
right.mistake(
    "adds_one_to_the_gains", {"* gain_q": "* (1 + gain_q)", "* gain_k": "* (1 + gain_k)"}, loses=VALUES
).feedback("You multiply by 1 + gain, as some models do. Here the gain itself is the factor.")
right.mistake("adds_the_gains", {"* gain_q": "+ gain_q", "* gain_k": "+ gain_k"}, loses=VALUES).feedback(
    "You add the gains. A gain is a factor for each entry: multiply."
)
right.mistake(scores.unscaled, {" / q.shape[-1] ** 0.5": ""}, loses=VALUES)
right.mistake(scores.scaled_by_width, {"q.shape[-1] ** 0.5": "q.shape[-1]"}, loses=VALUES)
right.mistake(
    "adds_it_outside_the_root",
    {
        "keepdim=True) + 1e-6)\n    size_k": "keepdim=True)) + 1e-6\n    size_k",
        "key.pow(2).mean(-1, keepdim=True) + 1e-6)": "key.pow(2).mean(-1, keepdim=True)) + 1e-6",
    },
    loses=VALUES,
).feedback("You add 1e-6 outside the square root. It belongs to the mean of the squares, under the root.")
right.mistake(
    "adds_nothing",
    {
        "keepdim=True) + 1e-6)\n    size_k": "keepdim=True))\n    size_k",
        "key.pow(2).mean(-1, keepdim=True) + 1e-6)": "key.pow(2).mean(-1, keepdim=True))",
    },
    loses=(VALUES, FORM),
).feedback("You leave out the 1e-6 in the mean of the squares. Without it, a vector of zeros becomes NaN.")
right.mistake(
    "guards_with_another_number",
    {
        "keepdim=True) + 1e-6)\n    size_k": "keepdim=True) + GUARD)\n    size_k",
        "key.pow(2).mean(-1, keepdim=True) + 1e-6)": "key.pow(2).mean(-1, keepdim=True) + GUARD)",
    },
    loses=VALUES,
).for_each(GUARD=("1e-5", "1e-8", "1e-12", "torch.finfo(query.dtype).eps")).feedback(
    "You add another number than 1e-6 to the mean of the squares. It counts where vectors are as small as 0.001."
)
right.mistake(
    "clamps_instead_of_adding",
    {
        "keepdim=True) + 1e-6)\n    size_k": "keepdim=True).clamp_min(1e-6))\n    size_k",
        "key.pow(2).mean(-1, keepdim=True) + 1e-6)": "key.pow(2).mean(-1, keepdim=True).clamp_min(1e-6))",
    },
    loses=VALUES,
).feedback("You use 1e-6 as a lower bound for the mean of the squares. Add it instead.")
right.mistake("normalises_the_scores", loses=VALUES).patch("""
- size_q = torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
- size_k = torch.sqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
- q = query / size_q * gain_q
- k = key / size_k * gain_k
- return q @ k.mT / q.shape[-1] ** 0.5
+ scores = (query * gain_q) @ (key * gain_k).mT / query.shape[-1] ** 0.5
+ return scores / torch.sqrt(scores.pow(2).mean(-1, keepdim=True) + 1e-6)
""").feedback("You normalise the rows of scores. Normalise the queries and keys instead, before the dot products.")
right.mistake(scores.keys_times_queries, {"q @ k.mT": "k @ q.mT"}, loses=VALUES)
right.mistake(
    "takes_the_softmax",
    {"return q @ k.mT / q.shape[-1] ** 0.5": "return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)"},
    loses=VALUES,
).feedback("You return weights. Return the scores: the softmax comes later.")
right.mistake(gradients.treated_as_constant(what="the root mean square", of="the vectors"), loses=FORM).patch("""
- q = query / size_q * gain_q
- k = key / size_k * gain_k
+ q = query / size_q.detach() * gain_q
+ k = key / size_k.detach() * gain_k
""")
right.mistake(shapes.all_dimensions_reversed, {"k.mT": "k.T"}, loses=VALUES)
right.mistake(numbers.result_float32(of="the query"), loses=FORM)
right.mistake(arguments.argument_changed(what="the queries and keys"), loses=FORM).patch("""
- q = query / size_q * gain_q
- k = key / size_k * gain_k
+ with torch.no_grad():
+     query /= size_q
+     key /= size_k
+ q, k = query * gain_q, key * gain_k
""")
keeps_its_last_result(right, loses=VALUES)
right.mistake("makes_the_length_1", loses=VALUES).patch("""
- q = query / size_q * gain_q
- k = key / size_k * gain_k
+ q = SAME(query, dim=-1) * gain_q
+ k = SAME(key, dim=-1) * gain_k
""").for_each(
    SAME=(
        "F.normalize",
        "(lambda x, dim: x / x.norm(dim=dim, keepdim=True))",
        "(lambda x, dim: x / (x.norm(dim=dim, keepdim=True) + 1e-6))",
    )
).feedback(
    "You divide by the length of a vector, the root of the *sum* of its squares. The root mean square takes their mean."
)
right.mistake("one_gain_for_both", {"* gain_k": "* gain_q"}, loses=VALUES).feedback(
    "You multiply queries and keys by `gain_q`. The keys have a gain of their own, `gain_k`."
)
right.mistake("gain_of_keys_for_both", {"* gain_q": "* gain_k"}, loses=VALUES).feedback(
    "You multiply queries and keys by `gain_k`. The queries have a gain of their own, `gain_q`."
)
right.mistake(arguments.argument_changed("divides_in_place", what="the queries and keys"), loses=FORM).patch("""
- q = query / size_q * gain_q
- k = key / size_k * gain_k
+ query EDIT size_q
+ key EDIT size_k
+ q, k = query * gain_q, key * gain_k
""").for_each(EDIT=("/=",))
for given in ("query", "key"):
    right.mistake(arguments.argument_changed(f"changes_the_{given}", what=f"`{given}`"), loses=FORM).patch(f"""
- {given[0]} = {given} / size_{given[0]} * gain_{given[0]}
+ {given} /= size_{given[0]}
+ {given[0]} = {given} * gain_{given[0]}
""")
right.mistake(scores.scaled_by_number_of_keys, {"q.shape[-1] ** 0.5": "k.shape[-2] ** 0.5"}, loses=VALUES)
right.mistake("scaled_by_the_number_of_queries", {"q.shape[-1] ** 0.5": "q.shape[-2] ** 0.5"}, loses=VALUES).feedback(
    "You scale by the number of queries. Scores grow with the width K of queries and keys: divide by √K."
)
right.mistake(
    "gains_as_one_number", {"* gain_q": "* 1", "* gain_k": "* 1", " / q.shape": " * FACTOR / q.shape"}, loses=VALUES
).for_each(FACTOR=("(gain_q * gain_k).mean()", "(gain_q.mean() * gain_k.mean())", "(gain_q * gain_k).sum()")).feedback(
    "You make one number of the gains and multiply the scores by it. A gain has one factor per entry: multiply the "
    "queries and keys by their gains before the dot products."
)
right.mistake("mean_of_the_gain_of_queries", {"* gain_q": "* gain_q.mean()"}, loses=VALUES).feedback(
    "You multiply the queries by the mean of `gain_q`. A gain has one factor per entry: multiply entry by entry."
)
