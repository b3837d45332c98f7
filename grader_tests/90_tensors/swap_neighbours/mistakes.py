"""Known mistakes in `swap_neighbours`."""

from .contract import swap_neighbours

right = swap_neighbours.reference_answer("""
def swap_neighbours(x):
    return x.reshape(-1, 2).flip(-1).reshape(-1)
""")

right.mistake("reverses_everything", {"x.reshape(-1, 2).flip(-1)": "ALL"}).for_each(
    ALL=("x.flip(-1)", "x.reshape(-1, 2).flip(0, 1)")
).feedback("You reverse the whole list. Cut it into pairs first, then reverse each pair.")
right.mistake("reverses_the_pairs", {"flip(-1)": "flip(0)"}).feedback(
    "You reverse the order of the pairs and leave each pair unchanged. Flip along the last dimension."
)
right.mistake("exchanges_the_halves", {"reshape(-1, 2).flip(-1)": "reshape(2, -1).flip(0)"}).feedback(
    "You cut the list into two halves and swap them. `reshape(-1, 2)` makes rows of two neighbours."
)
right.mistake("swaps_within_halves", {"reshape(-1, 2)": "reshape(2, -1)"}).feedback(
    "You reverse each half of the list. `reshape(-1, 2)` makes rows of two neighbours."
)
right.mistake("keeps_the_pairs", {".reshape(-1)": ""}).feedback(
    "You return the pairs, as a table. Make a list of them again with `reshape(-1)`."
)
