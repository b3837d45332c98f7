"""Known mistakes in `value_output_matrices`."""

from ...shared.families import arguments, numbers, shapes
from .contract import value_output_matrices

ALL = ("the matrix", "gradients")

right = value_output_matrices.reference_answer("""
def value_output_matrices(W_v, W_o, n_heads):
    width = W_v.shape[0]
    if n_heads < 1 or width % n_heads:
        raise ValueError(f"n_heads is {n_heads} and does not divide {width}")
    heads = []
    for rows in torch.arange(width).split(width // n_heads):
        down = W_v[rows].T
        up = W_o[:, rows].T
        heads.append(down @ up)
    return torch.stack(heads)
""")

right.mistake("columns_of_W_v", {"W_v[rows].T": "W_v[:, rows]"}, loses=ALL).feedback(
    "You take a head's columns of W_v. A linear layer multiplies by its transposed weight, so the numbers that "
    "come out, the head's values, are made by *rows*."
)
right.mistake("rows_of_W_o", {"W_o[:, rows].T": "W_o[rows]"}, loses=ALL).feedback(
    "You take a head's rows of W_o. The head's numbers go *into* this layer, and inputs meet the columns of its weight."
)
right.mistake(
    "columns_of_W_v_and_rows_of_W_o", {"W_v[rows].T": "W_v[:, rows]", "W_o[:, rows].T": "W_o[rows]"}, loses=ALL
).feedback(
    "You take columns of W_v and rows of W_o, as if words were multiplied by the weights as they are. A linear "
    "layer multiplies by its *transposed* weight."
)
right.mistake("for_columns", {"down @ up": "W_o[:, rows] @ W_v[rows]"}, loses=ALL).feedback(
    "Your matrices are transposed. They are right for words in columns, `matrix @ x`, but here words are rows, `x "
    "@ matrix`."
)
right.mistake("inside_the_head", {"down @ up": "up @ down"}, loses=ALL).feedback(
    "You exchange the two factors of the product. Your product is (K, K), but a word has D entries."
)
right.mistake("takes_every_nth", {"split(width // n_heads)": "view(-1, n_heads).T"}, loses=ALL).feedback(
    "You give each head every H-th number. A head's K numbers are consecutive, as in `split_heads`."
)
right.mistake("heads_are_summed", {"torch.stack(heads)": "sum(heads)"}, loses=ALL).feedback(
    "You return one matrix for all heads together. Their sum is `W_v.T @ W_o.T`, but the exercise asks what each "
    "head does."
)
right.mistake("head_size_for_heads", {"split(width // n_heads)": "split(n_heads)"}, loses="the matrix").feedback(
    "You make heads of `n_heads` numbers each. `n_heads` is the number of heads; each has D / n_heads numbers."
)
right.mistake(
    arguments.not_refused("You do not refuse a number of heads that does not divide the width."), loses="ValueError"
)
right.mistake(numbers.result_float64(of="the weights"), loses="float32")
right.mistake(shapes.result_squeezed, loses="the matrix")
