"""`page_and_row`, a step: from a position to a page of the pool."""

from grading.exercises.exercise import call, step

page_and_row = step(
    "page_and_row",
    see="Exercise: where a position is",
    hints=(
        "With pages of 4 rows, which entry of the table has position 5? Which row of that page is it in?",
        "The quotient of position and page size is the entry of the table, the remainder is the row.",
        "The shape of the code: `return table[<quotient>], <remainder>`.",
    ),
)


@page_and_row.oracle
def page_and_row_oracle(position, table, page_size):
    entry, row = divmod(position, page_size)
    return table[entry], row


page_and_row.example("the worked example", call(5, [7, 2], 4))
page_and_row.example("the first row of a page", call(6, [0, 5, 1], 3))


@page_and_row.criterion("the page from the table, and the row in it")
def _(draw):
    table = draw.permutation(9).tolist()
    yield call(draw.integer(3, 8), table, 5)
    yield call(draw.integer(20, 26), table, 3)
    yield call(8, table, 4)
    yield call(15, table, 4)
    yield call(draw.integer(2, 8), table, 1)
    yield call(0, table, 6)
