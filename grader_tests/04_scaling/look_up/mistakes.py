"""Known mistakes in `look_up`."""

from .contract import look_up

right = look_up.alternative("with_one_query_each")

right.mistake("keeps_the_dimension_of_queries", {"output[:, 0]": "output"}).feedback(
    "Your result is `(B, 1, V)`: it still has the dimension of the one query. Take its only entry: `output[:, 0]`."
)
right.mistake("queries_across_the_batch", {"asked[:, None] @": "asked @", "output[:, 0]": "output"}).feedback(
    "Without `[:, None]`, the queries of *all* problems are compared with the items of each one. Give every "
    "problem its own query, of shape `(B, 1, D)`."
)
right.mistake(
    "ignores_the_scale", {"(W_q.shape[-1] ** -0.5 if scale is None else scale)": "W_q.shape[-1] ** -0.5"}
).feedback("You ignore `scale`. Pass it on to your attention.")
right.mistake("does_not_scale_by_default", {"W_q.shape[-1] ** -0.5 if": "1.0 if"}).feedback(
    "Without a given `scale` you do not scale at all. The default is 1 / √K, as in `scaled_dot_product_attention`."
)
right.mistake("scales_by_the_width_of_items", {"W_q.shape[-1]": "items.shape[-1]"}).feedback(
    "You scale by the width of the items. K is the width of queries and keys, the second dimension of `W_q`."
)
right.mistake(
    "matrices_swapped", {"asked[:, None] @ W_q": "asked[:, None] @ W_k", "items @ W_k": "items @ W_q"}
).feedback("`W_q` and `W_k` are swapped. `W_q` makes the query from `asked`, `W_k` the keys from `items`.")
right.mistake("one_matrix_for_both", {"items @ W_k": "items @ W_q"}).feedback(
    "You make the keys with `W_q`, too. They have their own matrix, `W_k`."
)
right.mistake("returns_items", {"@ values": "@ items"}).feedback(
    "You average the items. The items make the keys; the output is an average of the *values*."
)
right.mistake(
    "picks_the_best",
    {"torch.softmax(scores, dim=-1) @ values": "values[torch.arange(len(values)), scores[:, 0].argmax(-1)][:, None]"},
).feedback(
    "You return the value of the best key only. Attention averages all values, and can be trained: `argmax` has no "
    "gradient."
)
