"""Known mistakes in `page_and_row`."""

from .contract import page_and_row

right = page_and_row.alternative("quotient_and_remainder")

right.mistake("entry_for_page", {"table[position // page_size]": "position // page_size"}).feedback(
    "You return the number of the entry. Look up in the table which page of the pool it is."
)
right.mistake(
    "row_first",
    {"table[position // page_size], position % page_size": "position % page_size, table[position // page_size]"},
).feedback("You return the row first. The page comes first, then the row.")
right.mistake(
    "swapped", {"position // page_size": "position % page_size", ", position % page_size": ", position // page_size"}
).feedback("You swap quotient and remainder. The quotient finds the page, the remainder the row.")
right.mistake(
    "row_of_the_pool", {", position % page_size": ", table[position // page_size] * page_size + position % page_size"}
).feedback("You return the row in the whole pool. The row counts from 0 within its page.")
right.mistake("position_for_row", {", position % page_size": ", position"}).feedback(
    "You return the position as the row. A page has only page_size rows: take the remainder."
)
right.mistake(
    "divides_by_the_pages",
    {
        "position // page_size": "position // len(table)",
        ", position % page_size": ", position % len(table)",
    },
).feedback("You divide by the length of the table. Each page has `page_size` positions.")
right.mistake("counts_from_one", {"table[position // page_size]": "table[max(position - 1, 0) // page_size]"}).feedback(
    "You count positions from 1. Position page_size is already on the second page."
)
