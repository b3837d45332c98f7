"""Known mistakes in `project_qkv`."""

from .contract import project_qkv

three_products = project_qkv.base("""
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_q, x @ W_k, x @ W_v
""")

in_a_loop = project_qkv.base("""
def project_qkv(x, W_q, W_k, W_v):
    made = [x @ W for W in (W_q, W_k, W_v)]
    return tuple(made)
""")

project_qkv.mistake("transposes_the_matrices", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T
""").says(
    "The matrices were transposed: with `.T`, or by `F.linear`, which multiplies by the transpose because "
    "`nn.Linear` keeps its weight as (out, in). Here they come as (in, out): no transpose."
)
three_products.mistake("uses_one_matrix_for_all", {"W_k, x @ W_v": "W_q, x @ W_q"}, shows="query").says(
    "Query, key and value are all made by one matrix. Each role has its own."
)
three_products.mistake("uses_the_queries_matrix_for_keys", {"x @ W_k": "x @ W_q"}, shows="query").says(
    "Key and query are made by the same matrix: then who asks is also what is asked for, and attention is mutual."
)
three_products.mistake("hands_over_x_for_the_value", {"x @ W_v": "x"}, shows="query").says(
    "The value is `x` itself. It has a matrix of its own, `W_v`."
)
three_products.mistake("exchanges_query_and_key", {"W_q, x @ W_k": "W_k, x @ W_q"}, shows="query").says(
    "Query and key have changed places. The order is query, key, value."
)
three_products.mistake("exchanges_key_and_value", {"W_k, x @ W_v": "W_v, x @ W_k"}, shows="query").says(
    "Key and value have changed places. The order is query, key, value."
)
project_qkv.mistake("cuts_into_equal_parts", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return (x @ torch.cat([W_q, W_k, W_v], dim=1)).chunk(3, dim=-1)
""").says(
    "The matrices were put side by side and the product cut into three *equal* parts. Values may be wider or "
    "narrower than keys: cut at K, K and V."
)
project_qkv.mistake("returns_one_tensor", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return torch.cat([x @ W_q, x @ W_k, x @ W_v], dim=-1)
""").says("The three are joined into one tensor. Return three: `return query, key, value`.")
project_qkv.mistake("chains_the_projections", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    query = x @ W_q
    return query, query @ W_k, query @ W_k @ W_v
""").says("The key was made from the query, and the value from the key. All three are made from `x`.")
project_qkv.mistake("takes_two_dimensions_only", shows="any leading").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return torch.mm(x, W_q), torch.mm(x, W_k), torch.mm(x, W_v)
""").says("This takes one sentence only: `mm` and its like want two dimensions. `@` takes any leading ones.")
project_qkv.mistake("squeezes", shows="any leading").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return (x @ W_q).squeeze(), (x @ W_k).squeeze(), (x @ W_v).squeeze()
""").says("A dimension of size 1 has vanished: `squeeze` takes away more than you meant.")
project_qkv.mistake("detaches_the_matrices", shows="gradients").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_q.detach(), x @ W_k.detach(), x @ W_v.detach()
""").says(
    "The numbers are right, and no gradient reaches the matrices: their `.data`, a detached copy or a new "
    "`nn.Parameter` was used. Nothing could be learned."
)
three_products.mistake("scales_the_query", {"x @ W_q": "x @ W_q / W_q.shape[1] ** 0.5"}, shows="query").says(
    "The query was divided by √K. Scaling comes in lesson 4, and not in the projection."
)
project_qkv.mistake("always_float32_projections", shows="float64").whole("""
def project_qkv(x, W_q, W_k, W_v):
    x = x.float()
    return x @ W_q.float(), x @ W_k.float(), x @ W_v.float()
""").says("The result is float32 whatever comes in. Take the dtype of the arguments.")
project_qkv.mistake("writes_into_the_matrices", shows="arguments").whole("""
def project_qkv(x, W_q, W_k, W_v):
    made = x @ W_q, x @ W_k, x @ W_v
    W_q.data.mul_(0.5)
    return made
""").says("An argument was changed in place. Work on new tensors.")
three_products.mistake("uses_the_keys_matrix_for_values", {"x @ W_v": "x @ W_k"}, shows="query").says(
    "The value was made with the keys' matrix. It has one of its own, `W_v`."
)
three_products.mistake("begins_with_the_value", {"x @ W_q": "x @ W_v", "x @ W_v": "x @ W_q"}, shows="query").says(
    "The right three, in the wrong order: query, key, value."
)
project_qkv.mistake("returns_columns", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return W_q.T @ x.mT, W_k.T @ x.mT, W_v.T @ x.mT
""").says("The results lie on their side: their last two dimensions are swapped. A word's query is a row of `x @ W_q`.")
three_products.mistake("transposes_the_key", {"x @ W_k": "(x @ W_k).mT"}, shows="query").says(
    "The key comes back transposed. That belongs to the attention; here it is `x @ W_k`, one row a word."
)
project_qkv.mistake("multiplies_from_the_left", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return W_q @ x, W_k @ x, W_v @ x
""").says(
    "The matrices stand to the left of `x`. Its rows are the words, so that they are multiplied from the right: "
    "`x @ W`."
)
project_qkv.mistake("stacks_the_three", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return torch.stack([x @ W_q, x @ W_k, x @ W_v])
""").says(
    "The three cannot be stacked into one tensor: values may have another width than queries and keys. Return a "
    "tuple of three."
)
in_a_loop.mistake(
    "makes_new_layers", {"x @ W": "nn.Linear(*W.shape, bias=False, dtype=x.dtype)(x)"}, shows="query"
).says("These are not projections by the matrices that you were given: a new `nn.Linear` begins with random numbers.")
project_qkv.mistake("cuts_off_below_zero", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return F.relu(x @ W_q), F.relu(x @ W_k), F.relu(x @ W_v)
""").says("Negative numbers became 0, as after a hidden layer. A projection is the product alone.")
project_qkv.mistake("names_one_batch_dimension", shows=("query", "any leading")).whole("""
def project_qkv(x, W_q, W_k, W_v):
    query, key = torch.einsum("btd,dk->btk", x, W_q), torch.einsum("btd,dk->btk", x, W_k)
    return query, key, torch.einsum("btd,dk->btk", x, W_v)
""").says(
    "Your einsum has one letter for the batch, so that it takes exactly one leading dimension. Three dots (`...`) "
    "stand for any number of them."
)
in_a_loop.mistake("views_what_is_not_contiguous", shows="float64").patch("""
- made = [x @ W for W in (W_q, W_k, W_v)]
+ flat = x.view(-1, x.shape[-1])
+ made = [(flat @ W).view(*x.shape[:-1], -1) for W in (W_q, W_k, W_v)]
""").says(
    "`view` stops where the numbers lie in another order in memory, as after a `transpose`. `reshape` copies them "
    "where it must, and `@` needs neither."
)
project_qkv.mistake("detaches_x", shows="gradients").whole("""
def project_qkv(x, W_q, W_k, W_v):
    x = x.detach()
    return x @ W_q, x @ W_k, x @ W_v
""").says("The matrices learn, and `x` was cut off from the gradient: what lies before this layer learns through it.")
project_qkv.mistake("always_float64_projections", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    x = x.double()
    return x @ W_q.double(), x @ W_k.double(), x @ W_v.double()
""").says("The results are float64 whatever comes in. Take the dtype of the arguments.")
in_a_loop.mistake(
    "projects_in_float32_between", {"x @ W": "(x.float() @ W.float()).to(x.dtype)"}, shows="float64"
).says(
    "The results have the right dtype, but they were computed in float32, which keeps seven digits. float64 in means "
    "float64 all the way."
)
project_qkv.mistake("ends_with_the_query", shows="query").whole("""
def project_qkv(x, W_q, W_k, W_v):
    return x @ W_k, x @ W_v, x @ W_q
""").says("The right three, in the wrong order: key, value, query. Asked for are query, key, value.")
