"""Known mistakes in `clipped_precision`."""

from ...shared.families import arguments
from .contract import clipped_precision

SHARE, CLIPPED = "the share", "each counts"

right = clipped_precision.reference_answer("""
def clipped_precision(written, reference, n):
    if n < 1:
        raise ValueError(f"n is {n}, and must be at least 1")
    mine = [tuple(written[i : i + n]) for i in range(len(written) - n + 1)]
    theirs = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    found = sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine))
    return found / len(mine) if mine else 0.0
""")

right.mistake(
    "not_clipped", {"min(mine.count(gram), theirs.count(gram))": "mine.count(gram) * (gram in theirs)"}, loses=CLIPPED
).feedback(
    "You count an n-gram as often as it was written, so repeating one good word makes a perfect translation. It "
    "counts at most as often as it occurs in the reference."
)
right.mistake(
    "each_kind_once", {"min(mine.count(gram), theirs.count(gram))": "gram in theirs"}, loses=CLIPPED
).feedback(
    "You count each different n-gram once, however often both lists have it. It counts as often as *both* have it."
)
right.mistake("kinds_for_divisor", {"/ len(mine)": "/ len(set(mine))"}, loses=CLIPPED).feedback(
    "You divide by the number of *different* n-grams. Repetitions were written as well, and lower the share."
)
right.mistake("recall", {"len(mine) if mine": "len(theirs) if theirs"}, loses=(SHARE, CLIPPED)).feedback(
    "You divide by the number of n-grams in the reference. This gives *recall*, the share of the reference that was "
    "found; precision is the share of what was written."
)
right.mistake("divided_by_tokens", {"/ len(mine)": "/ len(written)"}, loses=SHARE).feedback(
    "You divide by the number of tokens. There are n − 1 fewer n-grams than tokens."
)
right.mistake("one_gram_too_few", {"len(written) - n + 1": "len(written) - n"}, loses=SHARE).feedback(
    "You leave out the last n-gram of what was written. T tokens have T − n + 1 n-grams."
)
right.mistake(
    "cut_off_at_the_end", {"(written) - n + 1": "(written)", "(reference) - n + 1": "(reference)"}, loses=SHARE
).feedback("You count pieces at the end of the list that are shorter than n. They are not n-grams.")
right.mistake(
    "only_tokens",
    {"tuple(written[i : i + n])": "written[i]", "tuple(reference[i : i + n])": "reference[i]"},
    loses=SHARE,
).feedback("You compare single tokens whatever n is. An n-gram is n neighbours in their order.")
right.mistake(
    "in_any_order",
    {"written[i : i + n]": "sorted(written[i : i + n])", "reference[i : i + n]": "sorted(reference[i : i + n])"},
    loses=SHARE,
).feedback("You ignore the order inside an n-gram. (4, 5) and (5, 4) are different pairs.")
right.mistake("place_by_place", loses=(SHARE, CLIPPED)).patch("""
- found = sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine))
+ found = sum(map(tuple.__eq__, mine, theirs))
""").feedback(
    "You count n-grams only if they are at the same position in both lists. They count wherever they are: one extra "
    "word at the beginning must not spoil everything after it."
)
right.mistake("no_n_grams_at_all", {" if mine else 0.0": ""}, loses="shorter than n").feedback(
    "Your function fails if `written` is shorter than n. The result is then 0.0."
)
right.mistake(arguments.not_refused("You accept an n below 1. An n-gram has at least one token."), loses="ValueError")
right.mistake(
    "a_tensor", {"found / len(mine) if mine else 0.0": "torch.tensor(found / max(1, len(mine)))"}, loses="a float"
).feedback(
    "You return the right number as a tensor. The exercise asks for a plain float: use `.item()`, or no tensor at all."
)
