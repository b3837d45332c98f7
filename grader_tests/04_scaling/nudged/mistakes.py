"""Known mistakes in `nudged`."""

from .contract import nudged

right = nudged.alternative("all_at_once")

right.mistake("rows_are_scores", {").T": ")"}).feedback(
    "Rows and columns are swapped: your row j shows what score j does. The *column* belongs to the score, and the row "
    "to the weight."
)
right.mistake("does_not_divide", {"(moved - weights) / by": "(moved - weights)"}).feedback(
    "You return the change of the weights, not the rate. Divide it by `by`."
)
right.mistake("multiplies_by_the_step", {"/ by": "* by"}).feedback(
    "You multiply the change by `by`. A rate is a change *divided* by the step."
)
right.mistake("before_minus_after", {"moved - weights": "weights - moved"}).feedback(
    "The signs are wrong: subtract the weights before the nudge from those after it. A higher score raises its own "
    "weight."
)
right.mistake(
    "raises_all_scores", {"torch.eye(len(scores)).to(scores)": "torch.ones(len(scores), 1).to(scores)"}
).feedback(
    "You raise all scores together, which changes no weight. Raise one score at a time: `torch.eye` has one 1 per row."
)
right.mistake("nudges_the_weights").patch("""
- moved = torch.softmax(scores + by * torch.eye(len(scores)).to(scores), dim=-1)
+ moved = weights + by * torch.eye(len(scores)).to(scores)
""").feedback(
    "Your result is the identity matrix: you add `by` to the weights, or compare scores. Raise a score, and compare "
    "the *weights* before and after: take the softmax of both."
)
right.mistake(
    "softmax_over_the_columns",
    {"torch.eye(len(scores)).to(scores), dim=-1": "torch.eye(len(scores)).to(scores), dim=0"},
).feedback(
    "Your softmax runs along the wrong dimension: row j of `scores + by * torch.eye(S)` is one list of scores, so use "
    "`dim=-1`."
)
right.mistake("own_weights_only").patch("""
- return ((moved - weights) / by).T
+ return torch.diag(torch.diagonal(moved - weights) / by)
""").feedback("You keep only the diagonal, the effect of each score on its own weight. The other weights change, too.")
right.mistake("returns_the_weights", {"(moved - weights) / by": "moved"}).feedback(
    "You return the weights after each nudge. Subtract the weights before it, and divide by `by`."
)
