"""Known mistakes in `count_pairs`."""

from .contract import count_pairs

right = count_pairs.alternative("with_get")
by_position = count_pairs.alternative("by_position")

right.mistake("every_second_pair", {"zip(ids, ids[1:])": "zip(ids[::2], ids[1::2])"}).feedback(
    "You count every second pair only. Each position but the last begins a pair."
)
right.mistake("in_either_order", {"zip(ids, ids[1:])": "map(sorted, zip(ids, ids[1:]))"}).feedback(
    "You count the pairs (a, b) and (b, a) as one. The order of the two ids matters."
)
right.mistake("without_counting", {"counts.get((left, right), 0) + 1": "1"}).feedback(
    "Every count is 1. Add 1 to the count so far each time a pair occurs."
)
right.mistake("begins_with_one", {"right), 0)": "right), 1)"}).feedback(
    "Each count is one too high. A pair that has not occurred yet has the count 0."
)
by_position.mistake("leaves_out_the_last", {"range(1, len(ids))": "range(1, len(ids) - 1)"}).feedback(
    "You leave out the last pair. A list of T ids has T - 1 pairs."
)
by_position.mistake("leaves_out_the_first", {"range(1, len(ids))": "range(2, len(ids))"}).feedback(
    "You leave out the first pair. A list of T ids has T - 1 pairs."
)
count_pairs.mistake("not_overlapping").full_code("""
def count_pairs(ids):
    counts, last = {}, (None, -1)
    for i in range(len(ids) - 1):
        pair = ids[i], ids[i + 1]
        if last == (pair, i - 1):
            last = (None, -1)
        else:
            counts[pair] = counts.get(pair, 0) + 1
            last = (pair, i)
    return counts
""").feedback("You leave out pairs that overlap an equal one. In 7, 7, 7 the pair (7, 7) occurs twice.")
count_pairs.mistake("counts_single_ids").full_code("""
def count_pairs(ids):
    counts = {}
    for i in ids:
        counts[i] = counts.get(i, 0) + 1
    return counts
""").feedback("You count single ids. The step asks for pairs of neighbours.")
