"""Known mistakes in `share_back`."""

from .contract import share_back

right = share_back.alternative("from_a_diagonal")
indexed = share_back.alternative("from_indices")

right.mistake("looks_ahead", {"-distance": "distance"}).feedback(
    "You take the words *ahead*, above the main diagonal. A word that is back is below it."
)
right.mistake("adds_up", {"mean()": "sum()"}).feedback("You add up the weights. Take their mean.")
right.mistake("returns_the_diagonal", {".mean()": ""}).feedback(
    "You return the weights of all positions. Take their mean."
)
right.mistake("is_one_too_far", {"-distance": "-distance - 1"}).feedback(
    "You look one position too far back. Distance 0 is the word itself, distance 1 the word before it."
)
right.mistake("takes_a_column", {"weights.diagonal(-distance)": "weights[:, distance]"}).feedback(
    "You take one column, the weights that the word at *position* `distance` gets. The distance counts from each query."
)
right.mistake("takes_a_row", {"weights.diagonal(-distance)": "weights[distance]"}).feedback(
    "You take one row, the weights of one query. Take one weight from *each* query: that of the word `distance` back."
)
indexed.mistake("divides_by_all_positions", {"/ len(i)": "/ len(weights)"}).feedback(
    "You divide by the number of all positions. Leave out the first ones, which have no word that far back."
)
