"""Right answers to `page_and_row`."""


# %% quotient_and_remainder
def page_and_row(position, table, page_size):
    return table[position // page_size], position % page_size


# %% page_by_page
def page_and_row(position, table, page_size):
    entry = 0
    while position >= page_size:
        position -= page_size
        entry += 1
    return table[entry], position
