"""Known mistakes in `multi_head`."""

from ..common import SPLITTING
from .contract import multi_head

right = multi_head.alternative("all_heads_at_once")

right.mistake(
    "splits_by_reshape_alone",
    {".unflatten(-1, (n_heads, -1)).transpose(1, 2)": ".reshape(len(x), n_heads, x.shape[1], -1)"},
).feedback("You split the heads by reshaping alone, so each head gets whole words. Use `split_heads`.", see=SPLITTING)
right.mistake("merges_by_reshape_alone", {".transpose(1, 2).flatten(2)": ".reshape(x.shape)"}).feedback(
    "You merge the heads by reshaping alone, which mixes the words. Use `merge_heads`.", see=SPLITTING
)
right.mistake("forgets_W_o", {"output @ W_o": "output"}).feedback(
    "You leave out the last matrix, `W_o`, which mixes the outputs of the heads."
)
right.mistake("transposes_the_matrices", {"x @ W)": "x @ W.T)", "output @ W_o": "output @ W_o.T"}).feedback(
    "You transpose the matrices. Here they are used as `x @ W`; only an `nn.Linear` stores them transposed."
)
right.mistake("scales_by_the_model_width", {"query.shape[-1]": "x.shape[-1]"}).feedback(
    "You divide by the square root of the model width D. Use the width of one head, D / H."
)
right.mistake("does_not_scale", {" / query.shape[-1] ** 0.5": ""}).feedback(
    "You do not scale the scores. Divide them by the square root of the width of one head."
)
right.mistake("one_head_for_all", {"(n_heads, -1)": "(1, -1)"}).feedback(
    "You do not split into `n_heads` heads: one head of the full width has other weights and another scale."
)
right.mistake("softmax_over_heads", {"dim=-1": "dim=1"}).feedback(
    "Your softmax runs over the heads. In each head, the weights of a query sum to 1 over the keys."
)
right.mistake("returns_the_output_alone", {"output @ W_o, weights": "output @ W_o"}).feedback(
    "You return the output alone. Return the weights as well: output, weights."
)
right.mistake("averages_the_heads", {"output @ W_o, weights": "output @ W_o, weights.mean(1)"}).feedback(
    "You average the weights over the heads. Return those of every head, `(B, H, T, T)`."
)
