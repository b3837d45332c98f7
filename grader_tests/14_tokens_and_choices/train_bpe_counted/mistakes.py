"""Known mistakes in `train_bpe_counted`."""

from .contract import train_bpe_counted

right = train_bpe_counted.alternative("with_sets_of_positions")
SAME = "the same"

right.mistake(
    "takes_the_largest_of_equals", {"-len(where[pair]), pair)": "-len(where[pair]), -pair[0], -pair[1])"}, loses=SAME
).feedback("Of pairs that occur equally often you take the largest. Take the smallest, as Python compares tuples.")
right.mistake("takes_the_first_of_equals", {"(-len(where[pair]), pair)": "-len(where[pair])"}, loses=SAME).feedback(
    "Of pairs that occur equally often you take the one that was counted first. Take the smallest pair."
)
right.mistake("joins_what_occurs_once", {"len(where[best]) < 2": "len(where[best]) < 1"}, loses=SAME).feedback(
    "You go on when no pair occurs twice. Training ends there."
)
right.mistake(
    "keeps_the_pair_before", {"[ids.before(i), i, ids.after(i)]": "[None, i, ids.after(i)]"}, loses=SAME
).feedback(
    "You still count the pair that ends with the first id. The join replaces that id, so another pair is there now."
)
right.mistake("keeps_the_pair_after", {"for j in near:": "for j in near[:2]:"}, loses=SAME).feedback(
    "You still count the pair that begins with the second id. After the join that id is gone."
)
right.mistake("does_not_add_new_pairs", {"in near[:2]": "in []"}, loses=SAME).feedback(
    "You do not count the pairs of the new id. They begin at the joined position and at the one before it."
)
right.mistake("from_right_to_left", {"sorted(where[best])": "sorted(where[best], reverse=True)"}, loses=SAME).feedback(
    "You join from right to left. Join from left to right: of aaa, the first two are joined."
)
right.mistake("numbers_from_0", {"new = 256 + len(merges)": "new = len(merges)"}, loses=SAME).feedback(
    "Your new ids begin with 0. The ids 0 to 255 are the bytes, so merge m makes the id 256 + m."
)
right.mistake(
    "one_merge_too_many", {"while len(merges) < n_merges": "while len(merges) <= n_merges"}, loses=SAME
).feedback("You learn one merge more than asked for. Stop at `n_merges`.")
train_bpe_counted.mistake("counts_everything_again", loses="looks only").full_code("""
def train_bpe_counted(ids, n_merges):
    merges = []
    while len(merges) < n_merges:
        where, position = {}, ids.first
        while position is not None:
            pair = ids.pair(position)
            if pair is not None:
                where.setdefault(pair, []).append(position)
            position = ids.after(position)
        best = min(where, key=lambda pair: (-len(where[pair]), pair), default=None)
        if best is None or len(where[best]) < 2:
            break
        end = -1
        for i in where[best]:
            if i != end:
                end = ids.after(i)
                ids.join(i, 256 + len(merges))
        merges.append(best)
    return merges
""").feedback(
    "You walk through the whole text after each merge. Only pairs next to a joined one change: update those counts."
)
