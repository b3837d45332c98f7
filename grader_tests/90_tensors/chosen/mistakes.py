"""Known mistakes in `chosen`."""

from .contract import chosen

right = chosen.reference_answer("""
def chosen(x, columns):
    return x[torch.arange(len(x)), columns]
""")

right.mistake("picks_for_every_row", {"torch.arange(len(x))": ":"}).feedback(
    "You pick all the columns from every row, so the result is a table. `:` means every row; number the rows instead."
)
right.mistake("picks_rows", {"torch.arange(len(x)), columns": "columns"}).feedback(
    "You pick whole rows. The first index chooses rows, the second columns."
)
right.mistake(
    "exchanges_rows_and_columns", {"torch.arange(len(x)), columns": "columns, torch.arange(len(x))"}
).feedback("You swap rows and columns. The first index chooses the row.")
right.mistake("takes_the_largest", {"x[torch.arange(len(x)), columns]": "x.amax(-1)"}).feedback(
    "You take the largest entry of each row. Take the entry at the given column."
)
right.mistake("numbers_the_columns", {"len(x)": "x.shape[1]"}).feedback(
    "You count the columns of `x` instead of its rows. `len(x)` is the number of rows."
)
