"""Known mistakes in `staircase`."""

from .contract import staircase

right = staircase.reference_answer("""
def staircase(n):
    return torch.arange(n) <= torch.arange(n)[:, None]
""")

right.mistake("climbs_the_other_way", {"<=": ">="}).feedback(
    "Your staircase is mirrored: True is above the diagonal. Row 0 has one True, the last row has `n`."
)
right.mistake("leaves_out_the_diagonal", {"<=": "<"}).feedback(
    "You leave out the diagonal. Where column and row are equal, the entry is True."
)
right.mistake("inverts", {"<=": ">"}).feedback(
    "Your staircase is inverted: True is where the column is greater than the row."
)
right.mistake("keeps_the_diagonal_only", {"<=": "=="}).feedback(
    "Only your diagonal is True. Everything below it has to be True as well."
)
right.mistake("compares_entry_by_entry", {"[:, None]": ""}).feedback(
    "You compare each number with itself, because both sides are rows. Make one of them a column."
)
right.mistake(
    "answers_in_numbers",
    {"torch.arange(n) <= torch.arange(n)[:, None]": "(torch.arange(n) <= torch.arange(n)[:, None]).AS()"},
).for_each(AS=("float", "long", "int")).feedback(
    "Your entries are numbers. The comparison itself is True or False: return it unchanged."
)
