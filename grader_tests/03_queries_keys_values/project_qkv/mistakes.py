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
    "The matrices were transposed: with `.T`, or by `F.linear`, which multiplies by the transpose because "
    "`nn.Linear` keeps its weight as (out, in). Here they come as (in, out): no transpose."
)
right.mistake("uses_one_matrix_for_all", {"in (W_q, W_k, W_v)": "in (W_q, W_q, W_q)"}, loses="query").feedback(
    "Query, key and value are all made by one matrix. Each role has its own."
)
right.mistake("uses_the_queries_matrix_for_keys", {"in (W_q, W_k, W_v)": "in (W_q, W_q, W_v)"}, loses="query").feedback(
    "Key and query are made by the same matrix: then who asks is also what is asked for, and attention is mutual."
)
right.mistake(
    "hands_over_x_for_the_value", {"return query, key, value": "return query, key, x"}, loses="query"
).feedback("The value is `x` itself. It has a matrix of its own, `W_v`.")
right.mistake(
    "exchanges_query_and_key", {"return query, key, value": "return key, query, value"}, loses="query"
).feedback("Query and key have changed places. The order is query, key, value.")
right.mistake(
    "exchanges_key_and_value", {"return query, key, value": "return query, value, key"}, loses="query"
).feedback("Key and value have changed places. The order is query, key, value.")
project_qkv.mistake("cuts_into_equal_parts", loses="query").full_code("""
def project_qkv(x, W_q, W_k, W_v):
    return (x @ torch.cat([W_q, W_k, W_v], dim=1)).chunk(3, dim=-1)
""").feedback(
    "The matrices were put side by side and the product cut into three *equal* parts. Values may be wider or "
    "narrower than keys: cut at K, K and V."
)
right.mistake(
    "returns_one_tensor", {"return query, key, value": "return torch.cat([query, key, value], dim=-1)"}, loses="query"
).feedback("The three are joined into one tensor. Return three: `return query, key, value`.")
project_qkv.mistake("chains_the_projections", loses="query").full_code("""
def project_qkv(x, W_q, W_k, W_v):
    query = x @ W_q
    return query, query @ W_k, query @ W_k @ W_v
""").feedback("The key was made from the query, and the value from the key. All three are made from `x`.")
right.mistake("takes_two_dimensions_only", {"x @ W for": "torch.mm(x, W) for"}, loses="any leading").feedback(
    "This takes one sentence only: `mm` and its like want two dimensions. `@` takes any leading ones."
)
right.mistake(shapes.squeezed, {"x @ W for": "(x @ W).squeeze() for"}, loses="any leading")
right.mistake(
    gradients.cut("detaches_the_matrices", what="the matrices"), {"x @ W for": "x @ W.detach() for"}, loses="gradients"
)
right.mistake(
    "scales_the_query", {"return query, key, value": "return query / W_q.shape[1] ** 0.5, key, value"}, loses="query"
).feedback("The query was divided by √K. Scaling comes in lesson 4, and not in the projection.")
right.mistake(numbers.always_float32(of="the arguments"), {"x @ W for": "x.float() @ W.float() for"}, loses="float64")
right.mistake(
    arguments.argument_changed(what="a matrix"), {"return": "W_q.data.mul_(0.5)\n    return"}, loses="arguments"
)
right.mistake("uses_the_keys_matrix_for_values", {"in (W_q, W_k, W_v)": "in (W_q, W_k, W_k)"}, loses="query").feedback(
    "The value was made with the keys' matrix. It has one of its own, `W_v`."
)
right.mistake(
    "begins_with_the_value", {"return query, key, value": "return value, key, query"}, loses="query"
).feedback("The right three, in the wrong order: query, key, value.")
right.mistake("returns_columns", {"x @ W for": "W.T @ x.mT for"}, loses="query").feedback(
    "The results lie on their side: their last two dimensions are swapped. A word's query is a row of `x @ W_q`."
)
right.mistake(
    "transposes_the_key", {"return query, key, value": "return query, key.mT, value"}, loses="query"
).feedback("The key comes back transposed. That belongs to the attention; here it is `x @ W_k`, one row a word.")
right.mistake("multiplies_from_the_left", {"x @ W for": "W @ x for"}, loses="query").feedback(
    "The matrices stand to the left of `x`. Its rows are the words, so that they are multiplied from the right: "
    "`x @ W`."
)
right.mistake(
    "stacks_the_three", {"return query, key, value": "return torch.stack([query, key, value])"}, loses="query"
).feedback(
    "The three cannot be stacked into one tensor: values may have another width than queries and keys. Return a "
    "tuple of three."
)
right.mistake(
    "makes_new_layers", {"x @ W for": "nn.Linear(*W.shape, bias=False, dtype=x.dtype)(x) for"}, loses="query"
).feedback(
    "These are not projections by the matrices that you were given: a new `nn.Linear` begins with random numbers."
)
right.mistake("cuts_off_below_zero", {"x @ W for": "F.relu(x @ W) for"}, loses="query").feedback(
    "Negative numbers became 0, as after a hidden layer. A projection is the product alone."
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
    "The right three, in the wrong order: key, value, query. Asked for are query, key, value."
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
    "Every result is off by the same row of small numbers, others in each call: `nn.Linear` has a bias, drawn at "
    "random, unless it is told to have none. Its weight is a copy, too, so that no gradient reaches your matrices."
)
