"""Known mistakes in `previous_token_score`."""

from .contract import previous_token_score

right = previous_token_score.alternative("by_diagonal")

right.mistake("main_diagonal", {"diagonal(-1, ": "diagonal(0, "}).feedback(
    "You take the weight of each query on its own position. The position before is one to the left."
)
right.mistake("one_ahead", {"diagonal(-1, ": "diagonal(1, "}).feedback(
    "You take the diagonal above the main one: the weights on the position *after*. One back is the diagonal below."
)
right.mistake("two_back", {"diagonal(-1, ": "diagonal(-2, "}).feedback(
    "You look two positions back. The position before is one back: query t, key t - 1."
)
right.mistake("first_dimensions", {", dim1=-2, dim2=-1": ""}).feedback(
    "You take the diagonal of the first two dimensions. Queries and keys are the last two: `dim1=-2, dim2=-1`."
)
right.mistake("mean_over_everything", {".mean(-1)": ".mean()"}).feedback(
    "You take one mean over all maps. Return one number per map: a mean over the last dimension alone."
)
right.mistake("sum_for_mean", {".mean(-1)": ".sum(-1)"}).feedback("You add the weights up. The score is their mean.")
right.mistake("divides_by_all_queries", {".mean(-1)": ".sum(-1) / weights.shape[-1]"}).feedback(
    "You divide by T. Query 0 has no position before, so the mean is over T - 1 queries."
)
right.mistake("no_mean", {".mean(-1)": ""}).feedback(
    "You return the weights themselves. Take their mean over the last dimension."
)
