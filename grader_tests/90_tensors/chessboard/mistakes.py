"""Known mistakes in `chessboard`."""

from .contract import chessboard

right = chessboard.reference_answer("""
def chessboard(rows, columns):
    return (torch.arange(rows)[:, None] + torch.arange(columns)) % 2
""")

right.mistake("numbers_in_reading_order").full_code("""
def chessboard(rows, columns):
    return torch.arange(rows * columns).reshape(rows, columns) % 2
""").feedback(
    "You number the squares in reading order, so with an even number of columns every row is the same. Add row and "
    "column instead."
)
right.mistake("begins_with_1", {"torch.arange(columns)": "torch.arange(columns) + 1"}).feedback(
    "Your board is inverted. The top left square is 0."
)
right.mistake("takes_no_remainder", {" % 2": ""}).feedback(
    "You return the sums of row and column. Their remainder after division by 2 is 0 or 1."
)
right.mistake(
    "divides_the_columns_only", {"(torch.arange(rows)": "torch.arange(rows)", "(columns))": "(columns)"}
).feedback(
    "You take the remainder of the column numbers only, because `%` comes before `+`. Put the sum in parentheses."
)
right.mistake("multiplies", {"[:, None] + ": "[:, None] * "}).feedback(
    "You multiply row and column, so every even row is 0 throughout. Add them."
)
right.mistake("exchanges_rows_and_columns", {"(rows)": "(columns)", "(columns)": "(rows)"}).feedback(
    "You swap rows and columns. The shape is `(rows, columns)`."
)
right.mistake("draws_stripes", {"[:, None] + ": "[:, None] * 0 + "}).feedback(
    "Your board has stripes: every row is the same. Add the number of the row to that of the column."
)
right.mistake("answers_in_true_and_false", {"% 2": "% 2 == 1"}).feedback(
    "Your entries are True and False. Return the numbers 0 and 1: the remainder itself."
)
