"""`train_bpe`: merges of byte pairs, the most frequent first."""

from unicodedata import normalize

from grading.exercises.exercise import call, exercise

from ..common import OTHER_TIES, drawn_text, is_plain, learned, mixed_text, plain_text

train_bpe = exercise(
    "train_bpe",
    see="Exercise: `train_bpe(text, n_merges)`",
    hints=(
        "In `aabaab`, which pairs of neighbours are there, and how often does each occur? What is left of the text "
        "after the most frequent one is joined, and which pairs are there now?",
        "One round: count all pairs of neighbouring ids, take the most frequent one, replace it everywhere by a new "
        "id. The next round counts again, because the ids have changed. What ends the rounds early?",
        "Begin with `list(text.encode('utf-8'))`. In each of `n_merges` rounds: a dict of counts over `zip(ids, "
        "ids[1:])`; a `min` whose key puts the count first and the pair second; a new list, with `256 + m` for the "
        "pair.",
    ),
)


@train_bpe.oracle
def train_bpe_oracle(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}; it must be at least 0")
    ids, merges = "".join(map(chr, text.encode("utf-8"))), []  # ids as characters
    while len(merges) < n_merges:
        pairs = [ids[i : i + 2] for i in range(len(ids) - 1)]
        often = {pair: pairs.count(pair) for pair in set(pairs)}
        most = max(often.values(), default=0)
        if most < 2:
            break
        pair = min(pair for pair, count in often.items() if count == most)
        ids = ids.replace(pair, chr(256 + len(merges)))
        merges.append((ord(pair[0]), ord(pair[1])))
    return merges


train_bpe.example("two merges, the second of a new id", call("abcabcab", 2))
train_bpe.example("a tie: the smallest pair is taken", call("bcbcabab", 1))
train_bpe.example("overlapping occurrences count", call("aaabcbc", 1))
train_bpe.example("it ends early", call("aaa", 5))
train_bpe.example("two bytes in one character", call("ééé", 1))
train_bpe.example("fewer than no merges", call("abab", -1).raises("n_merges"))
train_bpe.example("a list of pairs of plain ints", call("ababab", 1), check_types=True)


@train_bpe.criterion("the most frequent pair, again and again", points=1)
def _(draw):
    yield call(plain_text(draw, 1), 1)
    for n_merges in (2, 3, 4):
        yield call(plain_text(draw, n_merges), n_merges)
    text = plain_text(draw, 5, letters="aeinrst", words=40)
    yield call(text, 5).label(f"a text of {len(text)} letters, 5 merges")


@train_bpe.criterion("of pairs that occur equally often, the smallest", points=0.5, tries="ties")
def _(draw):
    def tied(n_merges, *others, letters="abcd"):
        def holds(text):
            right = learned(text, n_merges)
            return (
                len(right) == n_merges
                and all(
                    learned(text, n_merges, **rule) == right for rule in ({"apart": True}, {"from_the_right": True})
                )
                and all(learned(text, n_merges, ties) != right for ties in others)
            )

        return call(draw.until(lambda: drawn_text(draw, letters, 9, 4), holds), n_merges)

    yield tied(1, "largest", "first")
    yield tied(1, "first", "last", "smallest right")
    yield tied(3, *OTHER_TIES)
    yield tied(4, *OTHER_TIES)


@train_bpe.criterion("runs of one token: counted at every position, joined from left to right", points=0.5)
def _(draw):
    def runs(n_merges, *others, longest=5):
        def make():
            lengths = [draw.integer(1, longest + 1) for _ in range(9)]
            return "".join("ab"[i % 2] * n for i, n in enumerate(lengths))

        def holds(text):
            right = learned(text, n_merges)
            return len(right) == n_merges and all(
                (learned(text, n_merges, **r) == right) != (r in others) for r in tried
            )

        kinds = {kind for rule in others for kind in rule}
        rules = [{"ties": ties} for ties in OTHER_TIES] + [{"apart": True}, {"from_the_right": True}]
        tried = [rule for rule in rules if rule in others or not kinds & set(rule)]
        return call(draw.until(make, holds), n_merges)

    yield runs(1, {"apart": True}).tries("overlaps")
    yield runs(2, {"apart": True}).tries("overlaps")
    yield runs(3, {"from_the_right": True}).tries("left")
    yield runs(4, {"from_the_right": True}, {"apart": True}).tries("left", "overlaps")
    yield runs(3, {"ties": "largest"}, {"ties": "first"}, {"ties": "last"}, longest=7).tries("ties", "overlaps", "left")


@train_bpe.criterion("bytes of any text, unchanged", points=0.5, tries="bytes")
def _(draw):
    for n_merges in (1, 3, 6):
        text = draw.until(lambda: mixed_text(draw), lambda text, n=n_merges: len(learned(text, n)) == n)
        yield call(text, n_merges).tries("bytes", "ties")
    capitals = draw.until(
        lambda: drawn_text(draw, "aAbB", 12, 3),
        lambda text: is_plain(text, 3) and learned(text, 3) not in (learned(text.lower(), 3), learned(text.upper(), 3)),
    )
    yield call(capitals, 3)
    gaps = draw.until(
        lambda: "  " + drawn_text(draw, "ab", 8, 2, gap="  ") + "   ",
        lambda text: (
            is_plain(text, 3) and learned(text, 3) not in (learned(text.strip(), 3), learned(" ".join(text.split()), 3))
        ),
    )
    yield call(gaps, 3)
    lines = draw.until(
        lambda: drawn_text(draw, "ab", 12, 2, gap="\r\n") + "\r\n",
        lambda text: is_plain(text, 3) and learned(text, 3) != learned(text.replace("\r\n", "\n"), 3),
    )
    yield call(lines, 3)
    accents = draw.until(  # e and a combining accent, which is not the letter é
        lambda: drawn_text(draw, ("e\u0301", "\u00e9", "e", "x"), 9, 3),
        lambda text: is_plain(text, 3) and learned(text, 3) != learned(normalize("NFC", text), 3),
    )
    yield call(accents, 3)


@train_bpe.criterion("ends early where no pair occurs twice", points=0.5, tries="early")
def _(draw):
    short = draw.until(
        lambda: drawn_text(draw, "abc", 5, 3), lambda text: 2 <= len(learned(text, 99)) <= 6 and len(set(text)) > 3
    )
    yield call(short, 99).tries("early", "ties", "overlaps")
    yield call(short, len(learned(short, 99))).tries("early", "ties", "overlaps")
    order = draw.permutation(8).tolist()
    yield call("".join("abcdefgh"[i] for i in order), 3)
    yield call("a" * draw.integer(9, 30), 12).tries("early", "overlaps", "left")
    yield call("aa", 2)
    yield call("aaa", 2).tries("early", "overlaps")
    yield call("x", 4)
    yield call("", 2)
    yield call("🙂🙂", 9).tries("early", "ties")  # more merges than characters
    yield call(plain_text(draw, 2), 0)


@train_bpe.criterion("ValueError if n_merges < 0", points=0.5, tries="negative")
def _(draw):
    text = drawn_text(draw, "abc", 5, 3)
    yield call(text, -1).raises("n_merges")
    yield call(text, -draw.integer(2, 300)).raises("n_merges")
    yield call("", -5).raises("n_merges")
    yield call(text, 0).does_not_raise()
    yield call(text, n_merges=1).does_not_raise()


@train_bpe.criterion("a list of pairs of ints", points=0.25, tries="tuples", check_types=True)
def _(draw):
    yield call(plain_text(draw, 3), 3).same_kinds()
    yield call(text=plain_text(draw, 2), n_merges=2).same_kinds()


@train_bpe.sizes(points=0.25, length=(1, 40, 3000), n_merges=(0, 3, 300))
def _(draw, length, n_merges):
    text = "".join("abcde \n"[int(i)] for i in draw.integers(0, 7, length))
    return call(text, n_merges).label(f"a text of {length} characters, n_merges={n_merges}")
