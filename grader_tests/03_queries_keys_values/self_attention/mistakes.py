"""Known mistakes in `self_attention`."""

from .contract import self_attention

right = self_attention.alternative("written_out")

right.mistake("swaps_key_and_value", {"query, key, value =": "query, value, key ="}).feedback(
    "You swapped key and value. `project_qkv` returns query, key, value, and `attention` takes them in this order."
)
right.mistake("swaps_query_and_key", {"query, key, value =": "key, query, value ="}).feedback(
    "You swapped query and key. `project_qkv` returns query, key, value, and `attention` takes them in this order."
)
right.mistake("does_not_project", {"x @ W_q, x @ W_k, x @ W_v": "x, x, x"}).feedback(
    "You pass x itself as query, key and value. Project it first, with `project_qkv`."
)
right.mistake("averages_x", {"return weights @ value": "return weights @ x"}).feedback(
    "You average the words instead of their values. The values are `x @ W_v`."
)
right.mistake("keys_from_the_query_matrix", {"x @ W_q, x @ W_k": "x @ W_q, x @ W_q"}).feedback(
    "You make the keys with `W_q`. Each role has its own matrix: the keys are `x @ W_k`."
)
right.mistake("returns_the_output_alone", {"return weights @ value, weights": "return weights @ value"}).feedback(
    "You return the output alone. Return the weights, too, as `attention` does."
)
right.mistake("returns_the_weights_first", {"weights @ value, weights": "weights, weights @ value"}).feedback(
    "You return the weights first. The order is output, weights, as `attention` returns them."
)
right.mistake("scales_the_scores", {"query @ key.mT": "query @ key.mT / query.shape[-1] ** 0.5"}).feedback(
    "You divide the scores by √K. Scaling is lesson 4; here scores are plain dot products."
)
