"""Known mistakes in `one_hot`."""

from .contract import one_hot

right = one_hot.reference_answer("""
def one_hot(ids, n):
    return (ids[:, None] == torch.arange(n)).float()
""")

right.mistake(
    "exchanges_rows_and_columns", {"ids[:, None]": "ids", "torch.arange(n)": "torch.arange(n)[:, None]"}
).feedback("You swap rows and columns. Each id has a row, and the result has shape `(T, n)`.")
right.mistake("counts_from_1", {"torch.arange(n)": "torch.arange(1, n + 1)"}).feedback(
    "Your 1 is one column too far to the left. Columns are counted from 0."
)
right.mistake("inverts", {"==": "!="}).feedback("You swap 0 and 1. The 1 is where the column equals the id.")
right.mistake("fills_up_to_the_id", {"==": ">="}).feedback(
    "Every column up to the id is 1. Only the column that equals the id should be."
)
right.mistake("compares_entry_by_entry", {"ids[:, None] == torch.arange(n)": "ROWS"}).for_each(
    ROWS=("ids == torch.arange(n)", "torch.arange(n) == ids")
).feedback("You compare entry by entry, because both sides are rows. Make the ids a column.")
right.mistake("answers_in_true_and_false", {".float()": ""}).feedback(
    "Your entries are True and False. `.float()` makes 1 and 0 of them."
)
