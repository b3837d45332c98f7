"""Known mistakes in `join_pair`."""

from .contract import join_pair

right = join_pair.alternative("by_position")

right.mistake("goes_on_by_one", {"i += 2": "i += 1"}).feedback(
    "The second id of a pair stays in the list after the new one. After a pair, go on by two positions."
)
right.mistake("loses_other_ids", {"joined.append(ids[i])": "pass"}).feedback(
    "Ids that are not part of the pair are missing from your result. They stay as they are."
)
right.mistake("in_either_order", {"(ids[i], ids[i + 1]) == pair": "{ids[i], ids[i + 1]} == set(pair)"}).feedback(
    "You also join the two ids in the other order. The pair (1, 2) is not the pair (2, 1)."
)
right.mistake("keeps_the_pair", {"joined.append(new)": "joined += [*pair, new]"}).feedback(
    "You keep the pair beside the new id. The new id replaces both ids."
)
right.mistake("the_first_only", {"if i + 1 < len(ids) and": "if i + 1 < len(ids) and new not in joined and"}).feedback(
    "You join the first occurrence only. Join all of them, from left to right."
)
right.mistake("loses_the_last", {"while i < len(ids):": "while i < len(ids) - 1:"}).feedback(
    "The last id is missing from your result unless it ends a pair. Go on until the end of the list."
)
right.mistake("looks_at_the_first_id", {"(ids[i], ids[i + 1]) == pair": "ids[i] == pair[0]"}).feedback(
    "You compare only the first id of the pair. Compare both ids."
)
join_pair.mistake("from_right_to_left").full_code("""
def join_pair(ids, pair, new):
    joined = []
    i = len(ids) - 1
    while i >= 0:
        if i > 0 and (ids[i - 1], ids[i]) == pair:
            joined.append(new)
            i -= 2
        else:
            joined.append(ids[i])
            i -= 1
    return joined[::-1]
""").feedback("You join from right to left. In 7, 7, 7 the first two are joined, so the result is new, 7.")
join_pair.mistake("in_place").full_code("""
def join_pair(ids, pair, new):
    i = 0
    while i + 1 < len(ids):
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new]
        i += 1
    return ids
""").feedback("You change the list that you are given. Make a new list and leave `ids` as it was.")
