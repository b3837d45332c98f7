"""Known mistakes in `softmax_jacobian`."""

from .contract import softmax_jacobian

right = softmax_jacobian.alternative("by_broadcasting")
outer = softmax_jacobian.alternative("by_an_outer_product")

outer.mistake("leaves_out_the_diagonal", {"torch.diag(weights) - torch": "-torch"}).feedback(
    "You leave out δ, so the diagonal is negative. Raising a word's own score raises its weight."
)
outer.mistake("keeps_the_diagonal_only", {" - torch.outer(weights, weights)": ""}).feedback(
    "You leave out the second term, so no word loses when another gains. Each column should sum to 0."
)
outer.mistake(
    "treats_scores_separately",
    {"torch.diag(weights) - torch.outer(weights, weights)": "torch.diag(weights * (1 - weights))"},
).feedback(
    "Only your diagonal is right. All other entries should be −aᵢ aⱼ: the weights of the other words fall when one "
    "score rises."
)
outer.mistake("adds_the_second_term", {") - torch": ") + torch"}).feedback(
    "You add the products of the weights instead of subtracting them. Each column should sum to 0."
)
right.mistake("multiplies_entry_by_entry", {"weights[:, None] * (same - weights)": "weights * (1 - weights)"}).feedback(
    "You return only the diagonal, as one number per weight. The result has one row per weight and one column per "
    "score: `weights[:, None]` makes a column that broadcasts to rows."
)
right.mistake("takes_ones_for_the_identity", {"torch.eye(len(weights),": "torch.ones(len(weights),"}).feedback(
    "You use 1 for δ everywhere. δ is 1 only on the diagonal and 0 elsewhere: `torch.eye(n)`."
)
right.mistake("scales_the_columns", {"weights[:, None] * (same": "weights * (same"}).feedback(
    "You multiply each column by its weight, although the subtracted weight is the column's as well. The factor before "
    "the parentheses belongs to the *row*: `weights[:, None]`."
)
