"""Known mistakes in `soft_dictionary`."""

from .contract import soft_dictionary

right = soft_dictionary.alternative("by_broadcasting")

right.mistake("prefers_the_farthest", {"-((queries[:, None] - keys) ** 2)": "(queries[:, None] - keys) ** 2"}).feedback(
    "Your farthest key gets the largest weight. The score is *minus* the square, so that close keys score high. "
    "(`(-d) ** 2` is positive, too.)"
)
right.mistake("does_not_square", {"-((queries[:, None] - keys) ** 2)": "-(queries[:, None] - keys)"}).feedback(
    "You do not square the difference, so keys on one side of the query score highest, however far they are."
)
right.mistake("takes_the_distance", {"-((queries[:, None] - keys) ** 2)": "-(queries[:, None] - keys).abs()"}).feedback(
    "You use the distance as it is. The score is minus its *square*."
)
right.mistake("takes_the_product", {"-((queries[:, None] - keys) ** 2)": "queries[:, None] * keys"}).feedback(
    "You multiply query and key, as the dot products of lesson 0 do. A larger key then always scores higher. Here the "
    "score is minus the square of their *difference*."
)
soft_dictionary.mistake("keeps_the_line_of_lesson_00").full_code("""
def soft_dictionary(queries, keys, values, temperature):
    return torch.softmax(queries @ keys.T / temperature, dim=-1) @ values
""").feedback(
    "You keep the dot products of lesson 0, which need vectors for queries and keys. Here each is one number, and the "
    "score is minus the square of their *difference*, for all pairs: `queries[:, None]`."
)
right.mistake("normalises_over_the_queries", {"dim=-1": "dim=0"}).feedback(
    "Your softmax runs along the queries, so they compete. Each query has its own weights: one *row* sums to 1."
)
right.mistake("ignores_the_temperature", {"scores / temperature": "scores"}).feedback(
    "The temperature changes nothing. Divide the scores by it, or call your `softmax_with_temperature`."
)
right.mistake("multiplies_by_the_temperature", {"scores / temperature": "scores * temperature"}).feedback(
    "You multiply by the temperature. It divides the scores."
)
right.mistake("returns_the_weights", {"weights @ values": "weights"}).feedback(
    "You return the weights. Multiply them by the values and sum: `weights @ values`."
)
right.mistake("averages_the_keys", {"@ values": "@ keys"}).feedback(
    "You average the keys. The keys give the weights; the answer is made of the *values*."
)
right.mistake("takes_the_nearest", {"weights @ values": "values[weights.argmax(dim=-1)]"}).feedback(
    "You return the value of the nearest key only. Average all values with the weights: `weights @ values`."
)
right.mistake(
    "does_not_normalise", {"torch.softmax(scores / temperature, dim=-1)": "torch.exp(scores / temperature)"}
).feedback("Your weights do not sum to 1: you exponentiate but do not divide. Use your `softmax_with_temperature`.")
