"""Known mistakes in `encode`."""

from ...shared.families import arguments, results, texts
from .contract import encode

ORDER, EVERY, ANY, FORM = "the pair", "every", "any text", "a list"

right = encode.reference_answer("""
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


def encode(text, merges):
    learned = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while True:
        known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
        if not known:
            return ids
        pair = min(known, key=learned.get)
        ids = join(ids, pair, learned[pair])
""")

right.mistake("takes_the_leftmost_pair", {"min(known, key=learned.get)": "known[0]"}, loses=ORDER).feedback(
    "You join the learned pair that comes first in the text. Join the one that was *learned* first, wherever it is."
)
right.mistake("takes_the_rightmost_pair", {"min(known, key=learned.get)": "known[-1]"}, loses=ORDER).feedback(
    "You join the learned pair that comes last in the text. Join the one that was *learned* first, wherever it is."
)
right.mistake(
    "takes_the_last_learned", {"min(known, key=learned.get)": "max(known, key=learned.get)"}, loses=ORDER
).feedback(
    "You join the pair that was learned last. Join the one that was learned first: later pairs are made of what it "
    "leaves."
)
right.mistake("takes_the_smallest_pair", {"min(known, key=learned.get)": "min(known)"}, loses=ORDER).feedback(
    "You join the smallest of the learned pairs. Their order is that of `merges`, in which they were learned."
)
right.mistake(
    "takes_the_most_frequent_pair", {"min(known, key=learned.get)": "max(TIES, key=known.count)"}, loses=ORDER
).for_each(
    TIES=(
        "sorted(set(known), key=learned.get)",
        "known",
        "reversed(known)",
        "sorted(known)",
        "sorted(known, reverse=True)",
        "sorted(known, key=learned.get, reverse=True)",
    )
).feedback(
    "You join the learned pair that is most frequent in this text. How often a pair occurs matters in training only: "
    "now join the one that was learned first."
)
encode.mistake("takes_the_longest_piece", loses=ORDER).full_code("""
def encode(text, merges):
    pieces = [bytes([i]) for i in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    ids, data = [], text.encode("utf-8")
    while data:
        i = max((i for i in range(len(pieces)) if data.startswith(pieces[i])), key=lambda i: len(pieces[i]))
        ids.append(i)
        data = data[len(pieces[i]) :]
    return ids
""").feedback(
    "You take the longest piece that fits at each position. Join pairs in the order in which they were learned: that "
    "may leave shorter pieces."
)
right.mistake("merges_from_last_to_first", loses=ORDER).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ for pair, new in reversed(learned.items()):
+     ids = join(ids, pair, new)
+ return ids
""").feedback(
    "You go through the merges from the last to the first. A later merge is made of ids that earlier ones make."
)
right.mistake("joins_one_pair_only", loses=ORDER).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
+ if not known:
+     return ids
+ pair = min(known, key=learned.get)
+ return join(ids, pair, learned[pair])
""").feedback(
    "You join one pair and stop. Look again after each join, as long as a learned pair occurs: new ids make new pairs."
)
right.mistake("knows_pairs_of_bytes_only", loses=ORDER).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ for pair, new in learned.items():
+     if max(pair) < 256:
+         ids = join(ids, pair, new)
+ return ids
""").feedback(
    "You never join a pair that has a new id in it. A pair may hold ids that earlier joins made: look for pairs in the "
    "joined list."
)
right.mistake("looks_up_pairs_of_the_bytes", loses=ORDER).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ found, i = [], 0
+ while i < len(ids):
+     new = learned.get(tuple(ids[i : i + 2]))
+     found.append(ids[i] if new is None else new)
+     i += 1 if new is None else 2
+ return found
""").feedback(
    "You go through the text once and join each learned pair that you meet. Join one pair everywhere, then look again "
    "from the start of the joined list."
)
right.mistake("learns_again", loses=ANY).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ for m in range(len(merges)):
+     pairs = list(zip(ids, ids[1:]))
+     often = max(map(pairs.count, pairs), default=0)
+     if often < 2:
+         break
+     ids = join(ids, min(pair for pair in pairs if pairs.count(pair) == often), 256 + m)
+ return ids
""").feedback(
    "You learn new merges from this text. Use the given ones: only then does an id mean the same in every text."
)
right.mistake("gives_the_rank", {"256 + m for": "NEW for"}, loses=ORDER).for_each(
    NEW=("m", "255 + m", "257 + m", "max([*map(max, merges[:m]), *text.encode()]) + 1")
).feedback("You give a merge another id. Merge m, counted from 0, makes the id 256 + m.")
right.mistake("joins_only_the_first_occurrence", loses=EVERY).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ for pair, new in learned.items():
+     for i in range(len(ids) - 1):
+         if (ids[i], ids[i + 1]) == pair:
+             ids[i : i + 2] = [new]
+             break
+ return ids
""").feedback("You join only the first occurrence of each pair. Join it everywhere.")
right.mistake("skips_after_a_join", loses=EVERY).patch("""
- if tuple(ids[i : i + 2]) == pair:
-     joined.append(new)
-     i += 2
+ if tuple(ids[i : i + 2]) == pair:
+     joined += [new, *ids[i + 2 : i + 3]]
+     i += 3
""").feedback(
    "You skip the id after a joined pair, so two pairs in a row are not both joined. Go on directly after the pair."
)
right.mistake(
    "joins_from_the_right",
    {"join(ids, pair, learned[pair])": "join(ids[::-1], pair[::-1], learned[pair])[::-1]"},
    loses=EVERY,
    clause="left",
).feedback("You join from right to left. In `aaa` the two letters on the left become one id.")
right.mistake("joins_overlapping_pairs", loses=EVERY).patch("""
- if tuple(ids[i : i + 2]) == pair:
-     joined.append(new)
-     i += 2
+ if tuple(ids[i : i + 2]) == pair:
+     joined.append(new)
+     i += 1 if tuple(ids[i + 1 : i + 3]) == pair else 2
""").feedback("You join occurrences that overlap, so one id becomes part of two. After a join, go on after both ids.")
right.mistake("loses_the_last_id", {"while i < len(ids)": "while i < len(ids) - 1"}, loses=(EVERY, ORDER)).feedback(
    "You lose the last id of the text when it is not part of a joined pair. Copy it as well."
)
right.mistake("misses_the_last_pair", {"zip(ids, ids[1:])": "zip(ids[:-1], ids[1:-1])"}, loses=EVERY).feedback(
    "You do not look at the last pair of the text. A list of n ids has n - 1 pairs of neighbours."
)
right.mistake(
    "uses_code_points", {'list(text.encode("utf-8"))': "[ord(c) for c in text]"}, loses=ANY, clause="unseen"
).feedback(
    "You begin with characters instead of bytes. Many characters have several bytes in UTF-8, and `ord` then gives "
    "numbers that belong to merges."
)
right.mistake("uses_another_encoding", {'text.encode("utf-8")': "ENCODED"}, loses=ANY).for_each(
    ENCODED=(
        'text.encode("latin-1", "replace")',
        'text.encode("ascii", "ignore")',
        'text.encode("utf-16-le")',
        'text.encode("utf-8-sig")',
    )
).feedback("You use another encoding than UTF-8. Use `encode('utf-8')`: every text has bytes in it.")
right.mistake("cleans_the_text", {'text.encode("utf-8")': 'CLEAN.encode("utf-8")'}, loses=ANY).for_each(
    CLEAN=texts.CHANGED
).feedback("You change the text before you encode it. Capitals, spaces and line ends are bytes like all others.")
right.mistake("encodes_words_apart", loses=ANY).patch("""
- known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
+ known = [pair for pair in zip(ids, ids[1:]) if pair in learned and 32 not in pair]
""").feedback("You join no pair with a space in it. A space is a byte like all others, and such a pair may be learned.")
right.mistake("drops_what_is_unknown", loses=ANY).patch("""
- ids = list(text.encode("utf-8"))
+ ids = [i for i in text.encode("utf-8") if any(i in pair for pair in merges)]
""").feedback("You leave out bytes that are in no merge. They keep their own ids, 0 to 255, so no text is lost.")
right.mistake("fails_on_the_empty_text", loses=ANY).patch("""
- while True:
+ if not text:
+     raise ValueError("text is empty")
+ while True:
""").feedback("You refuse the empty text. It has no ids: return an empty list.")
right.mistake("fails_where_nothing_is_known", loses=ANY).patch("""
- if not known:
+ if known is None:
""").feedback(
    "Your function fails where no learned pair occurs, because `min` of nothing raises an error. Return the ids then."
)
right.mistake("returns_pieces", loses=ORDER).patch("""
- return ids
+ pieces = [bytes([i]) for i in range(256)]
+ for left, other in merges:
+     pieces.append(pieces[left] + pieces[other])
+ return [SHOWN for i in ids]
""").for_each(SHOWN=('pieces[i].decode("utf-8", "replace")', "list(pieces[i])", "pieces[i]")).feedback(
    "You return the pieces of text. Return their ids, one int for each piece."
)
right.mistake("returns_a_tensor", {"return ids": "return torch.tensor(ids)"}, loses=FORM).feedback(
    "You return a tensor. Return a list of plain ints."
)
right.mistake("returns_tensors", {"return ids": "return [torch.tensor(i) for i in ids]"}, loses=FORM).feedback(
    "Your list holds tensors. Use plain ints: `int(…)` or `.tolist()` makes them."
)
right.mistake("adds_an_end", {"return ids": "return MARKED"}, loses=ORDER).for_each(
    MARKED=("[*ids, 256 + len(merges)]", "[256 + len(merges), *ids]", "[*ids, 0]")
).feedback("You add an id for the start or the end of the text. Only the text itself has ids.")
right.mistake("returns_how_many", {"return ids": "return len(ids)"}, loses=ORDER).feedback(
    "You return the number of tokens. Return the ids themselves."
)
right.mistake(arguments.argument_changed("uses_up_the_merges", what="`merges`"), loses=FORM).patch("""
- learned = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
- ids = list(text.encode("utf-8"))
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ ids, new = list(text.encode("utf-8")), 256
+ while merges:
+     ids = join(ids, tuple(merges.pop(0)), new)
+     new += 1
+ return ids
""").feedback(
    "You take the merges out of the caller's list, so it is empty afterwards. Read them without `pop`, `remove` or "
    "`del`."
)
encode.mistake("joins_as_soon_as_it_can", loses=ORDER).full_code("""
def encode(text, merges):
    learned = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    found = []
    for i in text.encode("utf-8"):
        found.append(i)
        while tuple(found[-2:]) in learned:
            found[-2:] = [learned[tuple(found[-2:])]]
    return found
""").feedback(
    "You join each learned pair as soon as you meet it. Join the one that was *learned* first, wherever it is."
)
encode.mistake("encodes_words_without_gaps", loses=ANY).full_code("""
def encode(text, merges):
    found = []
    for word in text.split():
        ids = list(word.encode("utf-8"))
        for m, pair in enumerate(merges):
            i = 0
            while i < len(ids) - 1:
                if tuple(ids[i : i + 2]) == tuple(pair):
                    ids[i : i + 2] = [256 + m]
                i += 1
        found += ids
    return found
""").feedback("You encode word by word and drop the spaces between. Spaces and line ends are bytes like all others.")
right.mistake("stops_at_a_missing_pair", loses=ORDER).patch("""
- while True:
-     known = [pair for pair in zip(ids, ids[1:]) if pair in learned]
-     if not known:
-         return ids
-     pair = min(known, key=learned.get)
-     ids = join(ids, pair, learned[pair])
+ for pair, new in learned.items():
+     if pair not in zip(ids, ids[1:]):
+         break
+     ids = join(ids, pair, new)
+ return ids
""").feedback(
    "You stop at the first learned pair that does not occur in the text. Later ones may: go on with the next."
)
right.mistake(results.nothing_returned, {"            return ids": "            return print(ids)"}, loses=ORDER)
right.mistake(
    "keeps_one_of_the_pairs_that_begin_alike",
    {"if pair in learned]": "if dict(merges).get(pair[0]) == pair[1]]"},
    loses=ORDER,
).feedback(
    "You keep the pairs in a dict by their first id, so that of several that begin with the same id only the last is "
    "left. Use whole pairs as keys."
)
encode.mistake("remembers_texts", loses=EVERY).full_code("""
known = {}


def encode(text, merges):
    if text not in known:
        ids = "".join(map(chr, text.encode("utf-8")))
        for m, (left, right) in enumerate(merges):
            ids = ids.replace(chr(left) + chr(right), chr(256 + m))
        known[text] = list(map(ord, ids))
    return list(known[text])
""").feedback(
    "You keep the ids of a text from one call to the next, and return them for other merges, too. They depend on both."
)
encode.mistake("hands_out_what_it_keeps", loses=FORM).full_code("""
known = {}


def encode(text, merges):
    asked = text, tuple(map(tuple, merges))
    if asked not in known:
        ids = "".join(map(chr, text.encode("utf-8")))
        for m, (left, right) in enumerate(merges):
            ids = ids.replace(chr(left) + chr(right), chr(256 + m))
        known[asked] = list(map(ord, ids))
    return known[asked]
""").feedback(
    "You keep your result and return the same list again. A caller who changes it changes what you return next: "
    "return a new list."
)
