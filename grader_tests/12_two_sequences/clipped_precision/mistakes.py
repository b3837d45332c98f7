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
    "An n-gram counts as often as it was written, so that one good word in a loop is a perfect translation. It counts "
    "at most as often as it stands in the reference."
)
right.mistake(
    "each_kind_once", {"min(mine.count(gram), theirs.count(gram))": "gram in theirs"}, loses=CLIPPED
).feedback("Each different n-gram counts once, however often both have it. It counts as often as *both* have it.")
right.mistake("kinds_for_divisor", {"/ len(mine)": "/ len(set(mine))"}, loses=CLIPPED).feedback(
    "You divide by the number of *different* n-grams. Repetitions were written as well, and cost."
)
right.mistake("recall", {"len(mine) if mine": "len(theirs) if theirs"}, loses=(SHARE, CLIPPED)).feedback(
    "You divide by the number of n-grams in the reference. That is what was found of it, *recall*; precision is the "
    "share of what was written."
)
right.mistake("divided_by_tokens", {"/ len(mine)": "/ len(written)"}, loses=SHARE).feedback(
    "You divide by the number of tokens. Of n-grams there are n - 1 fewer."
)
right.mistake("one_gram_too_few", {"len(written) - n + 1": "len(written) - n"}, loses=SHARE).feedback(
    "The last n-gram of what was written is left out: there are T - n + 1."
)
right.mistake(
    "cut_off_at_the_end", {"(written) - n + 1": "(written)", "(reference) - n + 1": "(reference)"}, loses=SHARE
).feedback("At the end of the list you count pieces that are shorter than n. They are no n-grams.")
right.mistake(
    "only_tokens",
    {"tuple(written[i : i + n])": "written[i]", "tuple(reference[i : i + n])": "reference[i]"},
    loses=SHARE,
).feedback("Single tokens are compared whatever n is. An n-gram is n neighbours in their order.")
right.mistake(
    "in_any_order",
    {"written[i : i + n]": "sorted(written[i : i + n])", "reference[i : i + n]": "sorted(reference[i : i + n])"},
    loses=SHARE,
).feedback("The order inside an n-gram is lost: (4, 5) is another pair than (5, 4).")
right.mistake("place_by_place", loses=(SHARE, CLIPPED)).patch("""
- found = sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine))
+ found = sum(map(tuple.__eq__, mine, theirs))
""").feedback(
    "N-grams count only where they stand at the same place in both. They count wherever they stand: one word too many "
    "at the beginning must not spoil all that follows."
)
right.mistake("no_n_grams_at_all", {" if mine else 0.0": ""}, loses="shorter than n").feedback(
    "It fails where what was written is shorter than n. Then the result is 0.0."
)
right.mistake(
    arguments.not_refused("You raise no error for an n below 1. An n-gram has at least one token."), loses="ValueError"
)
right.mistake(
    "a_tensor", {"found / len(mine) if mine else 0.0": "torch.tensor(found / max(1, len(mine)))"}, loses="a float"
).feedback("The right number as a tensor. A plain float is asked for: `.item()`, or no tensor at all.")
