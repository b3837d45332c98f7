"""Known mistakes in `similarity_scores`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from ..common import remembers_tensors
from .contract import similarity_scores

EVERYWHERE = ("a matrix", "batches")  # what an answer loses whose every result is wrong

right = similarity_scores.reference_answer("""
def similarity_scores(queries, keys):
    return queries @ keys.mT
""")

right.mistake("puts_the_keys_in_rows", {"queries @ keys.mT": "keys @ queries.mT"}, loses=EVERYWHERE).feedback(
    "You swap rows and columns, so each row belongs to a key. A row belongs to a *query*, a column to a key: `(..., T, "
    "S)`."
)
right.mistake("does_not_transpose", {"keys.mT": "keys"}, loses=EVERYWHERE).feedback(
    "You multiply by the keys without transposing them. `@` dots the queries with the *columns* of `keys`, which are "
    "not keys. Swap its last two dimensions first.",
    see="4. All pairs at once",
)
right.mistake("pairs_them_off", {"queries @ keys.mT": "(queries * keys).sum(-1)"}, loses=EVERYWHERE).feedback(
    "You compare the first query with the first key, the second with the second, and so on. Compare every query "
    "with *every* key."
)
right.mistake(
    shapes.all_dimensions_reversed(see="Predict: transposing a batch"), loses="batches", clause="batches"
).patch("""
- return queries @ keys.mT
+ return queries @ keys.permute(*reversed(range(keys.ndim)))
""").feedback(
    "This is your line of lesson 0, and `.T` reverses *all* dimensions of a batch. Swap only the last two, counted "
    "from the end."
)
right.mistake("swaps_the_first_two_dimensions", {"keys.mT": "keys.transpose(0, 1)"}, loses="batches").feedback(
    "You swap the first two dimensions, which are the last two only for a single matrix. Count from the end, with "
    "negative numbers.",
    see="4. All pairs at once",
)
right.mistake("swaps_dimensions_1_and_2", {"keys.mT": "keys.transpose(1, 2)"}, loses=EVERYWHERE).feedback(
    "You swap dimensions 1 and 2, which are the last two only if there is exactly one batch dimension. Count from "
    "the end, with negative numbers.",
    see="4. All pairs at once",
)
right.mistake("reshapes_where_it_should_transpose", loses=EVERYWHERE).patch("""
- return queries @ keys.mT
+ return queries @ keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])
""").feedback(
    "You use `reshape` or `view` where you should transpose. It keeps the order of the numbers and only breaks the "
    "rows elsewhere.",
    see="4. All pairs at once",
)
right.mistake(
    "mixes_the_batch", {"queries @ keys.mT": "torch.tensordot(queries, keys, dims=([-1], [-1]))"}, loses="batches"
).feedback(
    "You compare each query with the keys of all batch elements. Each batch element is separate from the others."
)
similarity_scores.mistake("sums_over_the_batch", loses="batches").full_code("""
def similarity_scores(queries, keys):
    scores = queries @ keys.mT
    return scores.sum(tuple(range(scores.ndim - 2))) if scores.ndim > 2 else scores
""").feedback(
    "You sum over the batch. Only the last two dimensions belong to a matrix of scores; the leading ones must stay."
)
right.mistake("scales_the_scores", {"keys.mT": "keys.mT / math.sqrt(keys.shape[-1])"}, loses=EVERYWHERE).feedback(
    "You divide the scores by the square root of D. Lesson 04 does that; here return the plain dot products."
)
right.mistake(
    "returns_cosines", {"queries @ keys": "F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1)"}, loses=EVERYWHERE
).feedback("You divide by the lengths, so your results are cosines. Here return the plain dot products.")
right.mistake("returns_weights", {"queries @ keys.mT": "(queries @ keys.mT).softmax(-1)"}, loses=EVERYWHERE).feedback(
    "You turn the scores into weights with a softmax. That is lesson 02; here return the plain dot products."
)
right.mistake(shapes.squeezed, {"queries @ keys.mT": "(queries @ keys.mT).squeeze()"}, loses=EVERYWHERE)
similarity_scores.mistake(numbers.float32_buffer(of="queries"), loses="float64").full_code("""
def similarity_scores(queries, keys):
    scores = torch.zeros(*queries.shape[:-1], keys.shape[-2])
    scores[...] = queries @ keys.mT
    return scores
""")
right.mistake(gradients.cut("detaches_the_scores"), loses=("gradients", "gradients of")).patch("""
- return queries @ keys.mT
+ return (queries @ keys.mT).detach()
""")
right.mistake(
    gradients.cut("cuts_the_gradient_of_the_keys", what="the keys"),
    {"keys.mT": "keys.detach().mT"},
    loses=("gradients", "gradients of"),
)
similarity_scores.mistake(arguments.argument_changed("works_in_place"), loses="arguments").full_code("""
def similarity_scores(queries, keys):
    scores = queries @ keys.mT
    with torch.no_grad():
        keys.mul_(2)
    return scores
""")
right.mistake("leaves_the_keys_out", {"keys.mT": "queries.mT"}, loses=EVERYWHERE).feedback(
    "You compare the queries with themselves and do not use the keys."
)
right.mistake("takes_the_mean_for_a_score", loses=EVERYWHERE).patch("""
- return queries @ keys.mT
+ return (queries.unsqueeze(-2) * keys.unsqueeze(-3)).mean(-1)
""").feedback("You take the mean of the products instead of their sum, so every score is D times too small.")
right.mistake("measures_distances", loses=EVERYWHERE).patch("""
- return queries @ keys.mT
+ return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).norm(dim=-1)
""").feedback("You return negative distances. Return dot products.")
similarity_scores.mistake("counts_keys_like_queries", loses=EVERYWHERE).full_code("""
def similarity_scores(queries, keys):
    count = range(queries.shape[-2])
    columns = [(queries * keys[..., s, :].unsqueeze(-2)).sum(-1) for s in count]
    return torch.stack(columns, dim=-1)
""").feedback("You assume that there are as many keys as queries. T and S may differ.")
right.mistake(shapes.one_batch_dimension(see="4. All pairs at once"), loses=EVERYWHERE).patch("""
- return queries @ keys.mT
+ return torch.einsum("btk,bsk->bts", queries, keys)
""")
right.mistake(
    "names_no_batch_dimension", {"queries @ keys.mT": 'torch.einsum("tk,sk->ts", queries, keys)'}, loses="batches"
).feedback(
    "Your einsum takes one matrix of queries and one of keys, but no batch. Three dots (`...`) before the letters "
    "mean any number of leading dimensions.",
    see="4. All pairs at once",
)
similarity_scores.mistake(shapes.view_of_strided, loses="arguments").full_code("""
def similarity_scores(queries, keys):
    flat_queries = queries.view(-1, *queries.shape[-2:])
    scores = flat_queries @ keys.view(-1, *keys.shape[-2:]).mT
    return scores.view(*queries.shape[:-1], keys.shape[-2])
""")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(
    gradients.cut("cuts_the_gradient_of_the_queries", what="the queries"),
    {"queries @": "queries.detach() @"},
    loses=("gradients", "gradients of"),
)
right.mistake(numbers.result_float64(of="the arguments"), loses="float64", clause="dtype")
right.mistake(
    "loses_the_signs_of_scores", {"queries @ keys.mT": "(queries @ keys.mT).abs()"}, loses=EVERYWHERE
).feedback("You remove the signs of the scores. A negative score means that the two vectors point apart.")
right.mistake("turns_one_matrix_over", {"keys.mT": "keys.t()"}, loses="batches").feedback(
    "Your function takes one matrix of keys but no batch of them, as `t()` and `F.linear` do. Swap the last two "
    "dimensions: `transpose(-2, -1)` or `mT`.",
    see="4. All pairs at once",
)
right.mistake("permutes_three_dimensions", {"keys.mT": "keys.permute(0, 2, 1)"}, loses=EVERYWHERE).feedback(
    "`permute(0, 2, 1)` names three dimensions, so it takes exactly one batch dimension. `transpose(-2, -1)` counts "
    "from the end.",
    see="4. All pairs at once",
)
right.mistake("multiplies_two_matrices_only", loses="batches").patch("""
- return queries @ keys.mT
+ return torch.mm(queries, keys.permute(*reversed(range(keys.ndim))))
""").feedback("`mm` multiplies two matrices, but no batches of them. `@` does both.", see="4. All pairs at once")
keeps_its_last_result(right, loses="a matrix")
right.mistake(
    "leaves_out_the_sum", {"queries @ keys.mT": "queries.unsqueeze(-2) * keys.unsqueeze(-3)"}, loses=EVERYWHERE
).feedback(
    "You multiply the entries of each query and key without adding the products up. Sum over the last dimension."
)
similarity_scores.mistake("takes_the_keys_of_the_first", loses="batches").full_code("""
def similarity_scores(queries, keys):
    while keys.ndim > 2:
        keys = keys[0]
    return queries @ keys.mT
""").feedback("You compare every batch element with the keys of the first one. Each batch element has its own keys.")
similarity_scores.mistake("flattens_the_batch", loses=EVERYWHERE).full_code("""
def similarity_scores(queries, keys):
    q, k = queries.reshape(-1, *queries.shape[-2:]), keys.reshape(-1, *keys.shape[-2:])
    return torch.bmm(q, k.mT)
""").feedback(
    "Your result always has three dimensions, one of them the batch. Restore the leading dimensions of the arguments, "
    "none, one or several, after you have flattened them."
)
right.mistake(
    arguments.argument_changed("turns_the_keys_in_place", see="4. All pairs at once", what="the keys"),
    {"keys.mT": "keys.transpose_(-1, -2)"},
    loses="arguments",
)
right.mistake("subtracts_squared_distances", loses="a matrix").patch("""
- return queries @ keys.mT
+ squared = queries.square().sum(-1).unsqueeze(-1) + keys.square().sum(-1).unsqueeze(-2)
+ return (squared - (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(-1)) / 2
""").feedback(
    "You compute the scores from squared distances, which loses digits if queries are much longer than keys. Rounding "
    "leaves nothing of the keys in the differences. Take the dot products themselves."
)
remembers_tensors(right, loses="a matrix")
right.mistake(
    numbers.default_device("moves_to_the_cpu", what="the result"),
    {"keys.mT": "keys.mT.cpu()"},
    loses="float64",
    clause="device",
).feedback("You move a tensor to the CPU. Leave it where it is: the result is on the device of the queries.")
right.mistake("pairs_one_matrix_only", {"queries @ keys.mT": "(PAIRS).sum(-1)"}, loses="batches").for_each(
    PAIRS=("queries.unsqueeze(-2) * keys", "queries[:, None] * keys[None]")
).feedback(
    "Your new dimensions form all pairs only for one matrix of queries and one of keys. Both arguments need a new "
    "one, counted from the end.",
    see="4. All pairs at once",
)
right.mistake("roots_as_in_lesson_00", loses=EVERYWHERE).patch("""
- return queries @ keys.mT
+ return queries @ keys.permute(*reversed(range(keys.ndim))) / math.sqrt(queries.shape[-1])
""").feedback(
    "This is your line of lesson 0 with its root, and with `.T`, which reverses all dimensions of a batch. Return the "
    "plain dot products, and swap only the last two dimensions."
)
