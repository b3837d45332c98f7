"""Known mistakes in `multi_head_by_einsum`."""

from .contract import multi_head_by_einsum

right = multi_head_by_einsum.alternative("matrices_with_a_head_dimension")

right.mistake(
    "deals_out_the_columns_in_turn", {"x, W.unflatten(1, (n_heads, -1))": "x, W.unflatten(1, (-1, n_heads)).mT"}
).feedback("Your heads take the columns in turn. Head h owns one band of columns: `unflatten(1, (n_heads, -1))`.")
right.mistake("cuts_the_rows", {'dhk->bhtk", x, W.unflatten(1,': 'hkd->bhtk", x, W.unflatten(0,'}).feedback(
    "You cut the *rows* of W_q, W_k and W_v into heads. A head owns columns, which is what comes out of `x @ W`."
)
right.mistake(
    "adds_up_the_heads_in_the_scores", {'bhtk,bhsk->bhts", query, key)': 'bhtk,bgsk->bhts", query, key)'}
).feedback("Your scores sum over the heads of the keys. Give both the same letter h, and keep it in the result.")
right.mistake("does_not_scale", {" / query.shape[-1] ** 0.5": ""}).feedback(
    "You do not scale the scores. Divide them by the square root of the width of one head."
)
right.mistake("scales_by_the_model_width", {"query.shape[-1]": "x.shape[-1]"}).feedback(
    "You divide by the square root of the model width D. Use the width of one head, D / H."
)
right.mistake("softmax_over_the_queries", {"dim=-1": "dim=-2"}).feedback(
    "Your softmax runs over the queries. In `bhts`, the keys have the letter s, the last one."
)
right.mistake(
    "cuts_the_columns_of_W_o",
    {'hkd->btd", output, W_o.unflatten(0, (n_heads, -1))': 'dhk->btd", output, W_o.unflatten(1, (n_heads, -1))'},
).feedback("You cut the columns of `W_o` into heads. The heads go *into* this matrix, so each meets its own rows.")
right.mistake(
    "forgets_W_o",
    {'torch.einsum("bhtk,hkd->btd", output, W_o.unflatten(0, (n_heads, -1)))': "output.transpose(1, 2).flatten(2)"},
).feedback("You leave out the last matrix, `W_o`, which mixes the outputs of the heads.")
right.mistake("returns_the_output_alone", {"(n_heads, -1))), weights": "(n_heads, -1)))"}).feedback(
    "You return the output alone. Return the weights as well: output, weights."
)
