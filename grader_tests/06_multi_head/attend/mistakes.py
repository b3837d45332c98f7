"""Known mistakes in `attend`."""

from .contract import attend

right = attend.alternative("in_three_lines")

right.mistake("does_not_scale", {" / query.shape[-1] ** 0.5": ""}).feedback(
    "You do not scale the scores. Divide them by the square root of the key width, `query.shape[-1]`."
)
right.mistake("divides_by_the_width", {"query.shape[-1] ** 0.5": "query.shape[-1]"}).feedback(
    "You divide the scores by the key width. Divide them by its square root."
)
right.mistake("multiplies_by_the_root", {"/ query.shape": "* query.shape"}).feedback(
    "You multiply the scores by the square root of the key width. Divide them by it."
)
right.mistake("scales_by_the_number_of_keys", {"query.shape[-1]": "key.shape[-2]"}).feedback(
    "You divide by the square root of the number of keys. Take the last size of `query`, the key width."
)
right.mistake("softmax_over_the_queries", {"dim=-1": "dim=-2"}).feedback(
    "Your softmax runs over the queries. Each query has its own weights: the sum over the *keys* is 1."
)
right.mistake("swaps_the_dimensions_of_all_heads", {"key.mT": "key.T"}).feedback(
    "`key.T` reverses *all* dimensions, also those of the batch and the heads. Swap only the last two: `key.mT`."
)
right.mistake("averages_the_keys", {"weights @ value": "weights @ key"}).feedback(
    "You average the keys. The weights multiply the *values*."
)
right.mistake("returns_the_output_alone", {"return weights @ value, weights": "return weights @ value"}).feedback(
    "You return the output alone. Return the weights as well: output, weights."
)
right.mistake("returns_the_weights_first", {"weights @ value, weights": "weights, weights @ value"}).feedback(
    "You return the weights first. The order is output, weights."
)
