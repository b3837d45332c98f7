"""Known mistakes in `gaps`."""

from .contract import gaps

right = gaps.reference_answer("""
def gaps(a, b):
    return b - a[:, None]
""")

right.mistake("subtracts_backwards", {"b - a[:, None]": "a[:, None] - b"}).feedback(
    "You subtract the wrong way round, so every sign is wrong. Entry `[i, j]` is `b[j] - a[i]`."
)
right.mistake("exchanges_rows_and_columns", {"b - a[:, None]": "b[:, None] - a"}).feedback(
    "You swap rows and columns. `a` runs down the rows, `b` across the columns."
)
right.mistake("makes_no_column", {"a[:, None]": "ROW"}).for_each(ROW=("a", "a[None, :]")).feedback(
    "You subtract entry by entry, because both lists are rows. Make `a` a column of shape `(T, 1)`."
)
right.mistake("adds", {"b - a": "b + a"}).feedback("You add the numbers instead of subtracting them.")
right.mistake("drops_the_sign", {"b - a[:, None]": "(b - a[:, None]).abs()"}).feedback(
    "You drop the sign. A gap is negative if `b[j]` is less than `a[i]`."
)
