"""Known mistakes in `train_bpe`."""

from ...shared.families import arguments, results, texts
from .contract import train_bpe

FIRST, TIES, RUNS, TEXTS, END = "the most", "of pairs", "runs", "bytes of", "ends early"

right = train_bpe.reference_answer("""
def count(ids):
    pairs = {}
    for i in range(len(ids) - 1):
        pair = (ids[i], ids[i + 1])
        pairs[pair] = pairs.get(pair, 0) + 1
    return pairs


def join(ids, pair, new):
    joined, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, and must not be negative")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        pairs = count(ids)
        often = max(pairs.values(), default=0)
        if often < 2:
            break
        pair = min(pair for pair in pairs if pairs[pair] == often)
        ids = join(ids, pair, 256 + m)
        merges.append(pair)
    return merges
""")

# which pair is taken
right.mistake(
    "takes_the_first_of_equals",
    {"min(pair for pair in pairs if pairs[pair] == often)": "max(pairs, key=pairs.get)"},
    loses=TIES,
).feedback(
    "Of pairs that occur equally often you take the one that occurs first in the text. Take the smallest pair. `max` "
    "over a dict, and `Counter.most_common`, keep the order in which keys were added."
)
right.mistake(
    "takes_the_last_of_equals",
    {"min(pair for pair in pairs if pairs[pair] == often)": "[pair for pair in pairs if pairs[pair] == often][-1]"},
    loses=TIES,
).feedback(
    "Of pairs that occur equally often you take the one that is counted last, as `>=` in a loop does. Take the "
    "smallest pair."
)
right.mistake("takes_the_largest_of_equals", {"min(pair for": "max(pair for"}, loses=TIES, clause="ties").feedback(
    "Of pairs that occur equally often you take the largest. `max` over (count, pair) does so, because the pair "
    "decides between equal counts. Take the smallest pair."
)
right.mistake("compares_texts_of_equals", loses=TIES).patch("""
- pair = min(pair for pair in pairs if pairs[pair] == often)
+ pieces = [bytes([i]) for i in range(256)]
+ for left, other in merges:
+     pieces.append(pieces[left] + pieces[other])
+ pair = PICK((p for p in pairs if pairs[p] == often), key=lambda p: (pieces[p[0]], pieces[p[1]]))
""").for_each(PICK=("min", "max")).feedback(
    "Of pairs that occur equally often you compare the texts of their pieces. Compare the pairs of ids, as Python "
    "compares tuples: the id 256 comes after all single bytes."
)
right.mistake(
    "compares_one_id_of_equals",
    {
        "min(pair for pair in pairs if pairs[pair] == often)": "min((p for p in pairs if pairs[p] == often), "
        "key=lambda p: p[PLACE])"
    },
    loses=TIES,
).for_each(PLACE=(0, 1)).feedback(
    "Of pairs that occur equally often you compare only one of the two ids. Compare whole pairs, as Python compares "
    "tuples: the first ids, and where these are equal the second."
)
right.mistake(
    "takes_the_least_frequent", {"max(pairs.values(), default=0)": "min(pairs.values(), default=0)"}, loses=FIRST
).feedback("You take the pair that occurs least often. Take the one that occurs most often.")
right.mistake(
    "counts_pairs_in_either_order",
    {"pair = (ids[i], ids[i + 1])": "pair = tuple(sorted((ids[i], ids[i + 1])))"},
    loses=FIRST,
).feedback(
    "You count `a b` and `b a` as one pair. The order of the two ids is part of a pair: only the same two ids in the "
    "same order are joined."
)
right.mistake("prefers_longer_pieces", loses=FIRST).patch("""
- often = max(pairs.values(), default=0)
+ sizes = [1] * 256
+ for left, other in merges:
+     sizes.append(sizes[left] + sizes[other])
+ real = pairs
+ pairs = {p: n * (sizes[p[0]] + sizes[p[1]]) if n > 1 else 0 for p, n in real.items()}
+ often = max(pairs.values(), default=0)
""").feedback("You weight each count by the length of the piece. The rule looks only at how often a pair occurs.")
right.mistake("counts_once", loses=FIRST).patch("""
- for m in range(n_merges):
-     pairs = count(ids)
+ pairs = count(ids)
+ for m in range(n_merges):
@@
- merges.append(pair)
+ merges.append(pair)
+ del pairs[pair]
""").feedback(
    "You count the pairs only once, before the first merge. Each merge changes the ids and makes new pairs: count "
    "again in every round."
)
right.mistake("never_joins", loses=FIRST).patch("""
- ids = join(ids, pair, 256 + m)
+ join(ids, pair, 256 + m)
""").feedback(
    "You do not keep the joined ids, so every round takes the same pair. Joining makes a new list: use that list in "
    "the next round."
)

# new ids
right.mistake("numbers_new_ids_otherwise", {"256 + m)": "NEW)"}, loses=FIRST).for_each(
    NEW=("max(ids) + 1", "257 + m", "255 + m", "len(set(text.encode())) + m", "m")
).feedback(
    "You give the new ids other numbers. The single bytes have the ids 0 to 255, whether they occur in the text or "
    "not, so merge 0 makes the id 256, merge 1 the id 257."
)
right.mistake("keeps_one_new_id", {"256 + m)": "256)"}, loses=FIRST).feedback(
    "You give every merge the id 256. Each merge makes an id of its own."
)

# joining
right.mistake("joins_only_the_first_occurrence", loses=FIRST).patch("""
- if tuple(ids[i : i + 2]) == pair:
+ if tuple(ids[i : i + 2]) == pair and new not in joined:
""").feedback("You join only the first occurrence of the pair. Join it everywhere before you count again.")
right.mistake("loses_the_last_id", {"while i < len(ids)": "while i < len(ids) - 1"}, loses=RUNS).feedback(
    "You lose the last id of the text when it is not part of a joined pair. A loop up to `len(ids) - 1` stops before "
    "it: copy it as well."
)
right.mistake(
    "joins_from_the_right",
    {"join(ids, pair, 256 + m)": "join(ids[::-1], pair[::-1], 256 + m)[::-1]"},
    loses=RUNS,
    clause="left",
).feedback("You join from right to left. In `aaa` the two letters on the left become one id.")
right.mistake("joins_overlapping_pairs", loses=RUNS).patch("""
- if tuple(ids[i : i + 2]) == pair:
-     joined.append(new)
-     i += 2
+ if tuple(ids[i : i + 2]) == pair:
+     joined.append(new)
+     i += 1 if tuple(ids[i + 1 : i + 3]) == pair else 2
""").feedback(
    "You join occurrences that overlap, so one id becomes part of two pairs. After a join, go on after both ids."
)
right.mistake("joins_once_more", loses=RUNS).patch("""
- if tuple(ids[i : i + 2]) == pair:
+ if joined and pair[0] == pair[1] and joined[-1] == new and ids[i] == pair[1]:
+     i += 1
+ elif tuple(ids[i : i + 2]) == pair:
""").feedback(
    "You join a whole run of one id into a single new id. A pair has two ids: `aaaa` becomes two new ids, `aaa` a new "
    "one and an `a`."
)

# counting
right.mistake("counts_runs_without_overlap", loses=RUNS, clause="overlaps").patch("""
- pairs = {}
- for i in range(len(ids) - 1):
-     pair = (ids[i], ids[i + 1])
-     pairs[pair] = pairs.get(pair, 0) + 1
+ pairs, last = {}, {}
+ for i in range(len(ids) - 1):
+     pair = (ids[i], ids[i + 1])
+     if last.get(pair) == i - 1:
+         continue
+     last[pair] = i
+     pairs[pair] = pairs.get(pair, 0) + 1
""").feedback(
    "You count only occurrences that do not overlap, as `str.count` does. Here every position counts: `aaa` has the "
    "pair `a a` twice."
)
right.mistake(
    "counts_every_second_position", {"range(len(ids) - 1)": "range(0, len(ids) - 1, 2)"}, loses=FIRST
).feedback(
    "You count only every second position. Each id but the last has a neighbour on its right: look at all of them."
)
right.mistake("misses_the_last_pair", {"range(len(ids) - 1)": "range(len(ids) - 2)"}, loses=END).feedback(
    "You do not count the last pair of the text. A list of n ids has n - 1 pairs of neighbours."
)
right.mistake("counts_the_ends_as_neighbours", loses=END).patch("""
- for i in range(len(ids) - 1):
-     pair = (ids[i], ids[i + 1])
+ for i in range(len(ids)):
+     pair = (ids[i], ids[(i + 1) % len(ids)])
""").feedback("You count the last id and the first one as neighbours. They are not: the text has two ends.")

# the text
right.mistake("uses_code_points", {'list(text.encode("utf-8"))': "[ord(c) for c in text]"}, loses=TEXTS).feedback(
    "You begin with characters instead of bytes. Many characters have several bytes in UTF-8, and then `ord` gives "
    "numbers above 255, which belong to merges."
)
right.mistake("uses_another_encoding", {'text.encode("utf-8")': "ENCODED"}, loses=TEXTS).for_each(
    ENCODED=(
        'text.encode("utf-16-le")',
        'text.encode("utf-16")',
        'text.encode("latin-1", "replace")',
        'text.encode("ascii", "ignore")',
    )
).feedback("You encode the text in another way than UTF-8. Use `encode('utf-8')`, which every string has bytes in.")
right.mistake(
    "cleans_the_text", {'text.encode("utf-8")': 'CLEAN.encode("utf-8")'}, loses=TEXTS, clause="bytes"
).for_each(CLEAN=texts.CHANGED).feedback(
    "You change the text before you count. Capitals, spaces and line ends are bytes like all others: take it as it is."
)
right.mistake("numbers_the_characters", loses=FIRST).patch("""
- ids = list(text.encode("utf-8"))
+ known = sorted(set(text.encode("utf-8")))
+ ids = [known.index(byte) for byte in text.encode("utf-8")]
""").feedback(
    "You number the bytes that occur in this text. The id of a byte is the byte itself, from 0 to 255, in any text."
)
right.mistake("keeps_words_apart", loses=FIRST).patch("""
- pairs = count(ids)
+ pairs = {p: n for p, n in count(ids).items() if 32 not in SPACES}
""").for_each(SPACES=("p", "p[1:]")).feedback(
    "You join no pair with a space in it. Here words are not cut apart first: a space is a byte like all others."
)

# the end
right.mistake("goes_on_with_single_pairs", {"if often < 2:": "if often < 1:"}, loses=END).feedback(
    "You also join pairs that occur only once. End as soon as no pair occurs twice."
)
right.mistake("ends_too_early", {"if often < 2:": "if often < 3:"}, loses=END).feedback(
    "You end although a pair still occurs twice. Twice is enough for a merge."
)
right.mistake("never_ends_early", loses=END, clause="early").patch("""
- often = max(pairs.values(), default=0)
- if often < 2:
-     break
+ often = max(pairs.values())
""").feedback(
    "You never end early. Where no pair occurs twice, nothing more is joined, and where there is no pair, `max` fails."
)
right.mistake(
    "fails_where_no_pair_is_left", {"max(pairs.values(), default=0)": "max(pairs.values())"}, loses=END
).feedback(
    "Your function fails when no pair is left, because `max` of nothing raises an error. A text of one byte or none "
    "has no pairs, and nor has one that was joined into a single id."
)
right.mistake("one_merge_too_many", {"range(n_merges)": "range(n_merges + 1)"}, loses=(FIRST, END)).feedback(
    "You learn one merge more than `n_merges`."
)
right.mistake("one_merge_too_few", {"range(n_merges)": "range(n_merges - 1)"}, loses=FIRST).feedback(
    "You learn one merge fewer than `n_merges`."
)
right.mistake("takes_the_size_of_the_vocabulary", {"range(n_merges)": "range(n_merges - 256)"}, loses=FIRST).feedback(
    "You take `n_merges` for the size of the vocabulary. It is the number of merges, so the vocabulary has 256 more."
)

# the result
right.mistake(
    "returns_a_dict", {"return merges": "return {pair: 256 + m for m, pair in enumerate(merges)}"}, loses=FIRST
).feedback("You return a dict. Return the list of pairs: the position of a pair in it says which id it makes.")
right.mistake(
    "returns_pieces",
    {"return merges": "return PIECES"},
    loses=FIRST,
).for_each(
    PIECES=(
        "[bytes(pair) if max(pair) < 256 else pair for pair in merges]",
        "[(chr(left), chr(other)) for left, other in merges]",
        "[(bytes([left % 256]), bytes([other % 256])) for left, other in merges]",
    )
).feedback("You return pieces of text. A merge is a pair of ids, that is of two ints.")
right.mistake("returns_the_ids", {"return merges": "return ids"}, loses=FIRST).feedback(
    "You return the ids of the text after the merges. Return the merges."
)
right.mistake(
    "returns_the_new_ids", {"return merges": "return list(range(256, 256 + len(merges)))"}, loses=FIRST
).feedback("You return the new ids. Return the pairs from which they are made.")
right.mistake("returns_counts_as_well", {"merges.append(pair)": "merges.append((*pair, often))"}, loses=FIRST).feedback(
    "You return a count with each pair. A merge is a pair of two ids."
)
right.mistake("returns_ids_as_well", {"return merges": "return merges, ids"}, loses=FIRST).feedback(
    "You return two results. Return the list of merges alone."
)
right.mistake("adds_the_new_id", {"merges.append(pair)": "merges.append((*pair, 256 + m))"}, loses=FIRST).feedback(
    "You add the new id to each pair. A merge is a pair of two ids; its position in the list says which id it makes."
)
right.mistake(
    "pairs_of_tensors", {"merges.append(pair)": "merges.append(tuple(map(torch.tensor, pair)))"}, loses="a list"
).feedback("Your pairs hold tensors. Use plain ints: `int(…)` or `.tolist()` makes them.")
right.mistake("newest_first", {"merges.append(pair)": "merges.insert(0, pair)"}, loses=FIRST).feedback(
    "You return the merges in reverse order. The one that was learned first comes first."
)
right.mistake("second_id_first", {"merges.append(pair)": "merges.append(pair[::-1])"}, loses=FIRST).feedback(
    "You return each pair with its second id first. A pair has its ids in the order of the text."
)
right.mistake(results.nothing_returned, {"    return merges": "    print(merges)"}, loses=FIRST)

# n_merges
right.mistake(
    arguments.not_refused("You do not refuse a negative `n_merges`. Raise a ValueError that names it and its value."),
    loses="ValueError",
)
right.mistake(
    arguments.valid_refused("refuses_no_merges"), {"n_merges < 0": "n_merges <= 0"}, loses=(END, "ValueError")
).feedback("You refuse an `n_merges` of 0. It is valid, and no merges are learned.")
right.mistake("refuses_too_many_merges", loses=END).patch("""
- if often < 2:
-     break
+ if often < 2:
+     raise ValueError(f"n_merges is {n_merges}, which is too many for this text")
""").feedback("You raise an error where the text is too short for `n_merges` merges. End early instead.")
right.mistake(arguments.asserts(), loses="ValueError", clause="errors")
right.mistake(arguments.wrong_error("TypeError"), loses="ValueError", clause="negative")
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(
    "pairs_that_are_lists",
    {"merges.append(pair)": "merges.append(list(pair))"},
    loses="a list of pairs",
    clause="tuples",
).feedback("Your pairs are lists. Make each a tuple: `merges` is a list of tuples of two ints.")
right.mistake("as_many_as_characters", {"range(n_merges)": "range(min(n_merges, len(text)))"}, loses=END).feedback(
    "You learn no more merges than the text has characters. It may have more bytes than characters."
)
