"""Known mistakes in `through_softmax`."""

from .contract import through_softmax

right = through_softmax.alternative("from_the_average")

right.mistake("subtracts_no_average", {"grad_weights - average": "grad_weights"}).feedback(
    "You leave out the average. If one weight rises, the others fall, so the gradients of a row sum to 0."
)
right.mistake("takes_the_plain_mean", {"(weights * grad_weights).sum(-1": "grad_weights.mean(-1"}).feedback(
    "You take the plain mean of the gradients. In the average, each counts by its weight."
)
right.mistake("takes_the_plain_sum", {"(weights * grad_weights)": "grad_weights"}).feedback(
    "You take the sum of the gradients. In the average, each counts by its weight."
)
right.mistake("averages_the_products", {".sum(-1": ".mean(-1"}).feedback(
    "You divide by the number of keys. The weights sum to 1 already, so the sum of the products is the average."
)
right.mistake("forgets_the_weights", {"weights * (grad_weights - average)": "grad_weights - average"}).feedback(
    "You leave out the factor in front: each difference is multiplied by its own weight."
)
right.mistake("adds_the_average", {"grad_weights - average": "grad_weights + average"}).feedback(
    "You add the average. It is subtracted, so that the gradients of a row sum to 0."
)
right.mistake("takes_the_diagonal_alone").patch("""
- average = (weights * grad_weights).sum(-1, keepdim=True)
+ average = weights * grad_weights
""").feedback("You use only how each weight depends on its own score. It depends on the other scores, too.")
right.mistake("averages_over_the_queries", {"sum(-1": "sum(0"}).feedback(
    "You sum over the first dimension. Each row has its own average, over the last dimension."
)
right.mistake("averages_over_everything", {"sum(-1, keepdim=True)": "sum()"}).feedback(
    "You take one average for all rows. Each row has its own."
)
right.mistake("keeps_no_dimension", {"sum(-1, keepdim=True)": "sum(-1)"}).feedback(
    "The average needs a last dimension of 1, so that each row has its own: `keepdim=True`."
)
