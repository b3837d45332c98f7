"""Known mistakes in `attention`."""

from ...shared.families import arguments, gradients, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import attention

right = attention.alternative("three_lines")

right.mistake("scales_the_scores", {"key.mT": "key.mT / query.shape[-1] ** 0.5"}, loses="output").feedback(
    "You divide the scores by √Dk, so the weights are flatter than they should be. Scaling is lesson 4; "
    "`F.scaled_dot_product_attention` does it unless you pass `scale=1.0`."
)
right.mistake("normalises_over_the_queries", {"dim=-1": "dim=-2"}, loses="output").feedback(
    "Your softmax runs over the queries, so each *column* of the weights sums to 1. Every query spends exactly 1 "
    "on the keys, so each row must sum to 1. Check `dim`."
)
right.mistake("softmax_along_dimension_0", {"dim=-1": "dim=0"}, loses=("output", "any leading")).feedback(
    "Your softmax runs along the first dimension. That is over the queries of one sentence, and over the sentences "
    "of a batch. The weights of one query are along the last dimension."
)
right.mistake(shapes.dimensions_from_the_front, {"dim=-1": "dim=1"}, loses="any leading")
right.mistake("keys_times_queries", {"query @ key.mT": "key @ query.mT"}, loses="output").feedback(
    "You multiply keys with queries, so the scores are transposed, (S, T). Multiply queries with keys, (T, S), for "
    "one row per query."
)
right.mistake("averages_the_keys", {"@ value": "@ key"}, loses="output").feedback(
    "You average the *keys*, although your weights are right. The output is an average of values."
)
right.mistake("compares_with_the_values", {"key.mT": "value.mT"}, loses=("output", "any leading")).feedback(
    "You compare the queries with the values. A query is compared with keys; the values are used only afterwards."
)
attention.mistake(results.scores_for_weights, loses="output").full_code("""
def attention(query, key, value):
    scores = query @ key.mT
    return torch.softmax(scores, dim=-1) @ value, scores
""")
attention.mistake(scores.softmax_missing, loses="output").full_code("""
def attention(query, key, value):
    scores = query @ key.mT
    return scores @ value, scores
""")
right.mistake("uses_a_sigmoid", {"softmax": "sigmoid", "mT, dim=-1": "mT"}, loses="output").feedback(
    "You apply a sigmoid, so every weight is between 0 and 1, but the rows do not sum to 1. The keys compete for "
    "each query: use softmax."
)
right.mistake(results.weights_first, {"weights @ value, weights": "weights, weights @ value"}, loses="output")
attention.mistake(results.output_alone, loses="output").full_code("""
def attention(query, key, value):
    return torch.softmax(query @ key.mT, dim=-1) @ value
""")
right.mistake("transposes_the_front", {"key.mT": "key.transpose(0, 1)"}, loses="any leading").feedback(
    "You transpose the keys in a way that works for two dimensions only, so a batch goes wrong. Swap the *last* "
    "two dimensions of the keys: `key.mT`."
)
right.mistake(
    "takes_one_batch_only",
    {"query @ key.mT": "torch.bmm(query, key.transpose(1, 2))", "weights @ value": "torch.bmm(weights, value)"},
    loses=("output", "any leading"),
).feedback(
    "Your function takes exactly three dimensions. It must also work without a batch and with two leading "
    "dimensions. Count dimensions from the end, and multiply with `@`."
)
right.mistake(
    shapes.squeezed,
    {"weights @ value, weights": "(weights @ value).squeeze(), weights.squeeze()"},
    loses="one query",
    clause="single",
)
right.mistake(numbers.exponentials_overflow, loses="large", clause="large").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ e = torch.exp(query @ key.mT)
+ weights = e / e.sum(-1, keepdim=True)
""")
right.mistake(numbers.one_maximum_for_all, loses="large").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ e = torch.exp(scores - scores.max())
+ weights = e / e.sum(-1, keepdim=True)
""")
right.mistake(
    gradients.cut("detaches_the_scores", what="the query and the key"), loses=("gradients", "gradients of")
).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ weights = torch.softmax((query @ key.mT).detach(), dim=-1)
""")
right.mistake(gradients.weights_detached("returns_detached_weights"), loses=("gradients", "gradients of")).patch("""
- return weights @ value, weights
+ return weights @ value, weights.detach()
""")
right.mistake("hides_the_future", loses="output").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
+ weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
""").feedback("You hide later keys from each query. A causal mask is lesson 5; here every query sees every key.")
right.mistake(numbers.result_float32(of="the arguments"), loses="float64")
right.mistake(arguments.argument_changed(what="the query"), loses="arguments").patch("""
  weights = torch.softmax(query @ key.mT, dim=-1)
+ query.data.sub_(query.data.mean())
""")
# As `key.T` does, the line of lesson 0, where there was one sentence; PyTorch warns of it
right.mistake(
    shapes.all_dimensions_reversed(what="key"),
    {"key.mT": "key.permute(*reversed(range(key.ndim)))"},
    loses="any leading",
    clause="leading",
).feedback(
    "You reverse all dimensions of the keys, those of the batch, too, as `key.T` does. In lesson 0 there was only one "
    "sentence. Swap only the last two dimensions: `mT`, or `transpose(-2, -1)`."
)
right.mistake("lets_the_built_in_scale_the_scores", loses="output").patch("""
- return weights @ value, weights
+ return F.scaled_dot_product_attention(query, key, value), weights
""").feedback(
    "You compute the output with weights other than those you return. The built-in attention divides the scores by "
    "the root of Dk by default. The weights you return are right."
)
right.mistake("multiplies_in_the_wrong_order", {"weights @ value": "value @ weights"}, loses="output").feedback(
    "You multiply the values by the weights in the wrong order. A row of weights mixes the rows of `value`, so the "
    "weights come first."
)
right.mistake(
    "attends_by_cosine", {"query @ key": "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1)"}, loses="output"
).feedback(
    "You divide by the lengths of the vectors first, so your scores are cosines. A score is the plain dot product."
)
right.mistake("takes_the_best_key_only", loses="output").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ weights = F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)
""").feedback(
    "You give all the weight to the best key. Softmax gives every key a share, and a maximum has no gradient."
)
right.mistake("divides_by_the_number_of_keys", {"key.mT": "key.mT / key.shape[-2]"}, loses="output").feedback(
    "You divide the scores by the number of keys. Here they are not scaled at all."
)
right.mistake("leaves_the_queries_out", {"query @": "key @"}, loses="output").feedback(
    "You compare the keys with themselves and do not use the queries."
)
attention.mistake("uses_as_many_keys_as_queries", loses="output").full_code("""
def attention(query, key, value):
    count = query.shape[-2]
    weights = torch.softmax(query @ key[..., :count, :].mT, dim=-1)
    return weights @ value[..., :count, :], weights
""").feedback("You use only as many keys as there are queries. T and S are two numbers, and either may be the larger.")
right.mistake("names_two_leading_dimensions", loses=("output", "any leading")).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
- return weights @ value, weights
+ weights = torch.softmax(torch.einsum("bhtk,bhsk->bhts", query, key), dim=-1)
+ return torch.einsum("bhts,bhsv->bhtv", weights, value), weights
""").feedback(
    "Your einsum names every dimension of a batch with heads, so it takes exactly four dimensions. Three dots "
    "(`...`) stand for any number of leading dimensions."
)
right.mistake(shapes.one_batch_dimension, loses=("output", "any leading")).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
- return weights @ value, weights
+ weights = torch.softmax(torch.einsum("btk,bsk->bts", query, key), dim=-1)
+ return torch.einsum("bts,bsv->btv", weights, value), weights
""")
right.mistake("cuts_scores_off", {"query @ key.mT": "(query @ key.mT).clamp(LIMITS)"}, loses="large").for_each(
    LIMITS=("-50, 50", "-1e4, 1e4", "-1e9, 1e9")
).feedback(
    "You cut scores off at a limit before the softmax, so all keys beyond it look the same. Softmax itself can "
    "take scores of any size."
)
right.mistake(
    gradients.weights_detached("outputs_with_detached_weights", use="average with"),
    {"weights @": "weights.detach() @"},
    loses=("gradients", "gradients of"),
)
right.mistake(gradients.cut("detaches_the_values", what="the values"), loses=("gradients", "gradients of")).patch("""
- return weights @ value, weights
+ return weights @ value.detach(), weights
""")
right.mistake(gradients.cut("detaches_the_keys", what="the keys"), loses=("gradients", "gradients of")).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ weights = torch.softmax(query @ key.detach().mT, dim=-1)
""")
right.mistake(numbers.result_float64(of="the arguments"), loses="float64")
right.mistake(numbers.computed_in_float32(what="the weights"), loses="float64")
attention.mistake(shapes.view_of_strided, loses="arguments").full_code("""
def attention(query, key, value):
    q, k, v = query.view(-1, *query.shape[-2:]), key.view(-1, *key.shape[-2:]), value.view(-1, *value.shape[-2:])
    weights = torch.softmax(q @ k.mT, dim=-1)
    return (weights @ v).view(*query.shape[:-1], -1), weights.view(*query.shape[:-1], -1)
""")
right.mistake("does_not_transpose_the_keys", {"key.mT": "key"}, loses="output").feedback(
    "You multiply the queries by the keys without transposing them. `query @ key` takes dot products with the "
    "*columns* of `key`, but the keys are its rows. Swap the last two dimensions of `key` first."
)
right.mistake(scores.softmax_without_dim, {"dim=-1": "dim=0 if query.ndim == 3 else 1"}, loses="any leading")
right.mistake("starts_the_maximum_too_high", loses="large").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ top = scores.amax(-1, keepdim=True).clamp(min=START)
+ e = torch.exp(scores - top)
+ weights = e / e.sum(-1, keepdim=True)
""").for_each(START=(0.0, -1e4, -1e9)).feedback(
    "You get NaN where all scores of a query are very negative. The search for their maximum starts at a larger "
    "number, such as 0 or -1e9, so every exponential becomes 0."
)
right.mistake(gradients.overwritten_before_backward, loses=("gradients", "gradients of")).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ weights = torch.exp(scores - scores.amax(-1, keepdim=True))
+ weights /= weights.sum(-1, keepdim=True)
""")
right.mistake(gradients.infinite_exponential, loses="gradients").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ weights = 1 / torch.exp(scores.unsqueeze(-2) - scores.unsqueeze(-1)).sum(-1)
""")
right.mistake("attends_to_the_best_few_only", loses="output").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ least = scores.topk(min(16, scores.shape[-1]), dim=-1).values[..., -1:]
+ weights = torch.softmax(scores.masked_fill(scores < least, -torch.inf), dim=-1)
""").feedback("You give weight only to the best-scoring keys when there are many. Every key gets a share.")
right.mistake("leaves_the_last_block_of_queries_out", loses="output").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ blocks = query.split(32, dim=-2)[: max(1, query.shape[-2] // 32)]
+ weights = torch.cat([torch.softmax(block @ key.mT, dim=-1) for block in blocks], dim=-2)
""").feedback("You process the queries in blocks and leave out the last block, which is not full.")
right.mistake("centres_the_keys", {"key.mT": "(key - key.mean(-2, keepdim=True)).mT"}, loses="large").feedback(
    "You subtract the mean of the keys, so beside one very long key the others lose all their digits. On paper "
    "this leaves the softmax unchanged, but the digits are rounded away."
)
right.mistake(numbers.always_float32("gathers_the_output_in_float32"), loses="float64").patch("""
- return weights @ value, weights
+ output = torch.zeros(*weights.shape[:-1], value.shape[-1])
+ output[...] = weights @ value
+ return output, weights
""").feedback(
    "You fill a tensor of zeros made without dtype and device, so the output is always float32 and on the CPU. "
    "Take both from the arguments."
)
right.mistake(scores.softmax_twice, {"query @ key.mT": "torch.softmax(query @ key.mT, dim=-1)"}, loses="output")
right.mistake("mixes_with_logarithms", {"torch.softmax": "torch.log_softmax"}, loses="output").feedback(
    "You take the logarithms of the weights, which are all below 0. Mix the values with the weights themselves."
)
right.mistake("transposes_the_values", {"@ value": "@ value.mT"}, loses="output").feedback(
    "You transpose the values before you mix them. Transpose only the keys: each row of `value` belongs to one key."
)
right.mistake(
    "divides_by_the_root_of_the_values_width", {"key.mT": "key.mT / value.shape[-1] ** 0.5"}, loses="output"
).feedback("You divide the scores by the root of Dv, the width of the values. Here they are not scaled at all.")
keeps_its_last_result(right, loses="output")
right.mistake(
    shapes.reshaped_keys, {"key.mT": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses="output"
).for_each(VIEW=("reshape", "view"))
right.mistake(
    "divides_by_the_root_of_the_number_of_keys", {"key.mT": "key.mT / key.shape[-2] ** 0.5"}, loses="output"
).feedback("You divide the scores by the root of the number of keys. Here they are not scaled at all.")
right.mistake(scores.softmax_over_everything, loses="output").patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ weights = torch.softmax(scores.flatten(), dim=0).view(scores.shape)
""")
right.mistake(
    "takes_the_softmax_last", {"weights @ value": "(query @ key.mT @ value).softmax(-1)"}, loses="output"
).feedback(
    "You multiply the scores with the values before you apply the softmax. Softmax turns scores into weights: "
    "apply it before you average the values."
)
right.mistake("averages_by_the_other_dimension", {"weights @ value": "weights.mT @ value"}, loses="output").feedback(
    "You transpose the weights before you multiply them with the values. They have one row per query, as the "
    "output has: `weights @ value`."
)
