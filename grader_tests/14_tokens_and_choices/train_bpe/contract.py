"""`train_bpe`: merges of byte pairs, the most frequent first."""

from grading.exercises.exercise import call, exercise

from ..common import SCRIPTS, spelled

train_bpe = exercise(
    "train_bpe",
    see="Exercise 1: `train_bpe(text, n_merges)`",
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


PLAIN = "aa a cda b b aa b b aa dbaa"  # no tie and no overlap among the first three merges


@train_bpe.criterion("the most frequent pair, again and again", points=1)
def _(draw):
    yield call(spelled(draw, "a c c ac a b b"), 1)
    yield call(spelled(draw, "acac acac ccbd baac acac acac acac acac acac cbcb"), 2)
    yield call(spelled(draw, PLAIN), 3)
    yield call(spelled(draw, "s r pqs r r pqs pqs pqs s pqs"), 4)
    text = spelled(draw, "i an an rn rn i rn isis na i r isis rn rn an r i rn eas rn i an")
    yield call(text, 5).label(f"a text of {len(text)} letters, 5 merges")


@train_bpe.criterion("of pairs that occur equally often, the smallest", points=0.5, tries="ties")
def _(draw):
    yield call(spelled(draw, "cadabcadabbcadabbb"), 1)
    yield call(spelled(draw, "adabadabadabadabadabbadabacccaccc"), 1)
    yield call(spelled(draw, "cdacdacdaacadacaacacdbaaca"), 3)
    yield call(spelled(draw, "dbaadbaadbaadbaadbaadbaadbaadbaadd"), 4)


@train_bpe.criterion("runs of one token: counted at every position, joined from left to right", points=0.5)
def _(draw):
    yield call(spelled(draw, "aabbbbbababbbabbb"), 1).tries("overlaps")
    yield call(spelled(draw, "abaaaaabbbaaabbab"), 2).tries("overlaps", "left")
    yield call(spelled(draw, "aaabbbbaaabbbabaaab"), 3).tries("overlaps", "left")
    yield call(spelled(draw, "aaabbaaabbbbaaabaaabbb"), 4).tries("overlaps", "left")


@train_bpe.criterion("bytes of any text, unchanged", points=0.5, tries="bytes")
def _(draw):
    for letters in SCRIPTS:
        case = call(spelled(draw, "bb bb b cda bb cbd bd bd cda b", letters), 3)
        yield case.tries("bytes", "ties")  # the first bytes of an emoji are always tied
    yield call(spelled(draw, "bBabBabBabBaBaBbaABAa"), 3)
    yield call(spelled(draw, "  ab  ab  a  a  ab  b   "), 3)
    yield call(spelled(draw, "b\r\nb\r\nbb\r\nb\r\nb\r\nba\r\nab\r\nb\r\n"), 3)
    accents = "xe eéé e\u0301 eéx e\u0301 eéx eéé e\u0301"  # e and a combining accent, which is not the letter é
    yield call(accents.replace("x", "kqvwx"[draw.integer(0, 5)]), 3)


@train_bpe.criterion("ends early where no pair occurs twice", points=0.5, tries="early")
def _(draw):
    short = spelled(draw, "dadababaacda")  # two merges
    yield call(short, 99)
    yield call(short, 2)
    order = draw.permutation(8).tolist()
    yield call("".join("abcdefgh"[i] for i in order), 3)
    yield call(spelled(draw, "a" * 13), 12).tries("early", "overlaps", "left")
    yield call("aa", 2)
    yield call("aaa", 2).tries("early", "overlaps")
    yield call("x", 4)
    yield call("", 2)
    yield call("🙂🙂", 9).tries("early", "ties")  # more merges than characters
    yield call(spelled(draw, PLAIN), 0)


@train_bpe.criterion("ValueError if n_merges < 0", points=0.5, tries="negative")
def _(draw):
    text = spelled(draw, PLAIN)
    yield call(text, -1).raises("n_merges")
    yield call(text, -draw.integer(2, 300)).raises("n_merges")
    yield call("", -5).raises("n_merges")
    yield call(text, 0).does_not_raise()
    yield call(text, n_merges=1).does_not_raise()


@train_bpe.criterion("a list of pairs of ints", points=0.25, tries="tuples", check_types=True)
def _(draw):
    yield call(spelled(draw, PLAIN), 3).same_kinds()
    yield call(text=spelled(draw, PLAIN), n_merges=2).same_kinds()


@train_bpe.sizes(points=0.25, length=(1, 40, 3000), n_merges=(0, 3, 300))
def _(draw, length, n_merges):
    text = (spelled(draw, "ab0ab1ab2ab3ab4ab5cd6cd7cd8cd9ef.ef,ef \n") * length)[:length]  # no tie and no overlap
    return call(text, n_merges).label(f"a text of {length} characters, n_merges={n_merges}")
