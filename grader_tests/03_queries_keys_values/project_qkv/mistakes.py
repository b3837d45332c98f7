"""Known mistakes in `project_qkv`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import project_qkv

right = project_qkv.reference_answer("""
def project_qkv(x, W_q, W_k, W_v):
    query, key, value = (x @ W for W in (W_q, W_k, W_v))
    return query, key, value
""")

right.mistake("transposes_the_matrices", {"x @ W for": "x @ W.T for"}, loses="query").feedback(
    "You transpose the matrices, with `.T` or by `F.linear`. `F.linear` multiplies by the transpose, because "
    "`nn.Linear` stores its weight as (out, in). These matrices are (in, out) and need no transpose."
)
right.mistake("uses_one_matrix_for_all", {"in (W_q, W_k, W_v)": "in (W_q, W_q, W_q)"}, loses="query").feedback(
    "You use one matrix for query, key and value. Each role has its own matrix."
)
right.mistake("uses_the_queries_matrix_for_keys", {"in (W_q, W_k, W_v)": "in (W_q, W_q, W_v)"}, loses="query").feedback(
    "You use the same matrix for key and query, so attention becomes mutual. A word is then found by the same "
    "vector with which it asks."
)
right.mistake(
    "hands_over_x_for_the_value", {"return query, key, value": "return query, key, x"}, loses="query"
).feedback("You return `x` itself as the value. The value has its own matrix, `W_v`.")
right.mistake(
    "exchanges_query_and_key", {"return query, key, value": "return key, query, value"}, loses="query"
).feedback("You swapped query and key. The order is query, key, value.")
right.mistake(
    "exchanges_key_and_value", {"return query, key, value": "return query, value, key"}, loses="query"
).feedback("You swapped key and value. The order is query, key, value.")
project_qkv.mistake("cuts_into_equal_parts", loses="query").full_code("""
def project_qkv(x, W_q, W_k, W_v):
    return (x @ torch.cat([W_q, W_k, W_v], dim=1)).chunk(3, dim=-1)
""").feedback(
    "You cut the product of the joined matrices into three *equal* parts. Values may be wider or narrower than "
    "keys: cut at K, K and V."
)
right.mistake(
    "returns_one_tensor", {"return query, key, value": "return torch.cat([query, key, value], dim=-1)"}, loses="query"
).feedback("You join the three results into one tensor. Return three: `return query, key, value`.")
project_qkv.mistake("chains_the_projections", loses="query").full_code("""
def project_qkv(x, W_q, W_k, W_v):
    query = x @ W_q
    return query, query @ W_k, query @ W_k @ W_v
""").feedback("You make the key from the query and the value from the key. All three are made from `x`.")
right.mistake("takes_two_dimensions_only", {"x @ W for": "torch.mm(x, W) for"}, loses="any leading").feedback(
    "Your function takes one sentence only, because `mm` and similar functions take two dimensions. `@` takes any "
    "leading dimensions."
)
right.mistake(shapes.squeezed, {"x @ W for": "(x @ W).squeeze() for"}, loses="any leading")
right.mistake(
    gradients.cut("detaches_the_matrices", what="the matrices"), {"x @ W for": "x @ W.detach() for"}, loses="gradients"
)
right.mistake(
    "scales_the_query", {"return query, key, value": "return query / W_q.shape[1] ** 0.5, key, value"}, loses="query"
).feedback("You divide the query by √K. Scaling comes in lesson 4, and is not part of the projection.")
right.mistake(numbers.always_float32(of="the arguments"), {"x @ W for": "x.float() @ W.float() for"}, loses="float64")
right.mistake(
    arguments.argument_changed(what="a matrix"), {"return": "W_q.data.mul_(0.5)\n    return"}, loses="arguments"
)
right.mistake("uses_the_keys_matrix_for_values", {"in (W_q, W_k, W_v)": "in (W_q, W_k, W_k)"}, loses="query").feedback(
    "You make the value with the matrix of the keys. It has its own matrix, `W_v`."
)
right.mistake(
    "begins_with_the_value", {"return query, key, value": "return value, key, query"}, loses="query"
).feedback("You return the right three tensors in the wrong order. The order is query, key, value.")
right.mistake("returns_columns", {"x @ W for": "W.T @ x.mT for"}, loses="query").feedback(
    "You return the results transposed: their last two dimensions are swapped. A word's query is a row of `x @ W_q`."
)
right.mistake(
    "transposes_the_key", {"return query, key, value": "return query, key.mT, value"}, loses="query"
).feedback(
    "You return the key transposed. That belongs to the attention; here the key is `x @ W_k`, with one row per word."
)
right.mistake("multiplies_from_the_left", {"x @ W for": "W @ x for"}, loses="query").feedback(
    "You multiply `x` by the matrices from the left. The rows of `x` are the words, so multiply from the right: `x "
    "@ W`."
)
right.mistake(
    "stacks_the_three", {"return query, key, value": "return torch.stack([query, key, value])"}, loses="query"
).feedback(
    "You stack the three results, but values may have a different width than queries and keys. Return a tuple of three."
)
right.mistake(
    "makes_new_layers", {"x @ W for": "nn.Linear(*W.shape, bias=False, dtype=x.dtype)(x) for"}, loses="query"
).feedback("You make a new `nn.Linear`, which starts with random numbers. Project with the matrices that you receive.")
right.mistake("cuts_off_below_zero", {"x @ W for": "F.relu(x @ W) for"}, loses="query").feedback(
    "You set negative numbers to 0, as after a hidden layer. A projection is only the product."
)
right.mistake(
    shapes.one_batch_dimension, {"x @ W for": 'torch.einsum("btd,dk->btk", x, W) for'}, loses=("query", "any leading")
)
right.mistake(shapes.view_of_strided, loses="arguments").patch("""
- query, key, value = (x @ W for W in (W_q, W_k, W_v))
+ query, key, value = ((x.view(-1, x.shape[-1]) @ W).view(*x.shape[:-1], -1) for W in (W_q, W_k, W_v))
""")
right.mistake(gradients.cut("detaches_x", what="`x`"), {"x @ W for": "x.detach() @ W for"}, loses="gradients")
right.mistake(numbers.always_float64(of="the arguments"), {"x @ W for": "x.double() @ W.double() for"}, loses="float64")
right.mistake(numbers.float32_on_the_way, {"x @ W for": "(x.float() @ W.float()).to(x.dtype) for"}, loses="float64")
right.mistake("ends_with_the_query", {"return query, key, value": "return key, value, query"}, loses="query").feedback(
    "You return key, value, query. The order is query, key, value."
)
keeps_its_last_result(right, loses="query")
project_qkv.mistake("adds_a_bias_drawn_at_random", loses=("query, key", "gradients")).full_code("""
def project_qkv(x, W_q, W_k, W_v):
    made = []
    for matrix in (W_q, W_k, W_v):
        layer = nn.Linear(*matrix.shape, dtype=matrix.dtype)
        layer.weight.data = matrix.T
        made.append(layer(x))
    return tuple(made)
""").feedback(
    "You use an `nn.Linear` with a bias, which adds random numbers that are new in each call. `nn.Linear` has a "
    "bias by default. Its weight is also a copy, so no gradient reaches your matrices."
)
