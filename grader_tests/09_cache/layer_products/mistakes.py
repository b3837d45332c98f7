"""Known mistakes in `layer_products`."""

from .contract import layer_products

right = layer_products.alternative("summed")

right.mistake("computes_all_rows", {"4 * T": "4 * S"}).feedback(
    "You multiply all rows by the four matrices. With a cache only the new rows need that."
)
right.mistake("scores_among_the_new_alone", {"T * S * d": "T * T * d"}).feedback(
    "You count scores among the new rows alone. Each new query meets all `S` keys."
)
right.mistake("scores_among_all", {"T * S * d": "S * S * d"}).feedback(
    "You count the scores of all `S` queries. Only `T` queries are new."
)
right.mistake("forgets_the_values", {"2 * T * S * d": "T * S * d"}).feedback(
    "You count the scores or the weighted sum of values, but not both. Each takes T · S · d multiplications."
)
right.mistake("three_matrices", {"4 * T": "3 * T"}).feedback(
    "You count three matrices. The fourth is `W_o`, which is applied to the output."
)
right.mistake("without_the_matrices", {"4 * T * d**2 + ": ""}).feedback(
    "You leave out the four matrices. Each new row is multiplied by all of them, which takes d² multiplications each."
)
right.mistake("a_vector_for_a_matrix", {"d**2": "d"}).feedback(
    "You count d multiplications for a matrix. A row of width d times a d × d matrix takes d²."
)
right.mistake("scores_without_width", {"T * S * d": "T * S"}).feedback(
    "You count one multiplication per score. A dot product of width d takes d."
)
right.mistake("operations", {"return ": "return 2 * (", "S * d": "S * d)"}).feedback(
    "You count additions as well. The step asks for multiplications alone, half as many."
)
