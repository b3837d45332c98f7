"""`encode`: the ids of a text, by merges that were learned."""

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, ref

from ..common import SCRIPTS, learned, spelled

encode = exercise(
    "encode",
    see="Exercise: `encode(text, merges)`",
    hints=(
        "The merges are `a b`, then `b c`. What do you join in `abc`, and what is left for the second merge?",
        "Begin with the bytes. Look which learned pairs occur, take the one that was learned first, join it "
        "everywhere, and look again. When no learned pair occurs any more, you are done.",
        "A dict from each pair to its new id shows which pairs were learned, and in which order. In a loop: list the "
        "learned pairs among the neighbours, end if there are none, and otherwise join the earliest one as in "
        "`train_bpe`.",
    ),
)


@encode.oracle
def encode_oracle(text, merges):
    ids = "".join(map(chr, text.encode("utf-8")))  # ids as characters
    for m, (left, right) in enumerate(merges):
        ids = ids.replace(chr(left) + chr(right), chr(256 + m))
    return list(map(ord, ids))


encode.example("the pair that was learned first", call("abc", [(97, 98), (98, 99)]))
encode.example("a pair of a new id", call("xabcab", [(97, 98), (256, 99)]))
encode.example("the first pair is to the right", call("abc", [(98, 99), (97, 98)]))
encode.example("from left to right", call("aaa", [(97, 97)]))
encode.example("nothing is learned", call("é", []))
encode.example("a list of plain ints", call("abab", [(97, 98)]), check_types=True)


def given(draw, text, merges):
    """The arguments `text` and `merges`, with drawn letters; `ab 0c` is a pair of bytes, and one of its id with `c`."""
    text, *pairs = spelled(draw, f"{text}|{merges.replace(' ', '|')}").split("|")
    return text, [tuple(256 + int(i) if i.isdigit() else ord(i) for i in pair) for pair in pairs]


@encode.criterion("the pair that was learned first is joined first", points=1.25, tries="first")
def _(draw):
    yield call(*given(draw, "ccccabcabcbb", "cb bc ca"))
    yield call(*given(draw, "bbcbbcccabaaccbb", "ca ab c0 ac"))
    yield call(*given(draw, "abacbbbbbbbccbbaaccb", "aa ba bc 2c ab"))
    yield call(*given(draw, "bcbbcbcbcbcabcabbbaaacca", "cc a0 ac 2b 22"))
    yield call(*given(draw, "abbbbababaabaaacbbcaaabcbbaabbaa", "ca 0c c0 0b 1c 0a 2b 56"))


@encode.criterion("every occurrence, from left to right", points=0.5, tries="left")
def _(draw):
    yield call("a" * 7, [(97, 97)])
    yield call(*given(draw, "a" * 12, "aa 00"))
    yield call("a" * 7, [(97, 97), (256, 97), (256, 256)])
    yield call(*given(draw, "aaabbbabbaaabbbbbaaaaaa", "aa 0b"))
    yield call(*given(draw, "aaabaaaaababaaaa", "aa bb 11 02"))
    yield call(*given(draw, "baab", "ab"))


@encode.criterion("any text, also one that was never seen", points=0.75, tries="unseen")
def _(draw):
    for letters in SCRIPTS:
        trained, other = spelled(draw, "bb bb b cda bb cbd bd bd cda b|bac, a bb\r\n", letters).split("|")
        yield call(trained, learned(trained, 3))
        yield call(other, learned(trained, 3))
    _, merges = given(draw, "", "ab 0c bc")
    yield call("".join("vwxyz"[int(i)] for i in draw.integers(0, 5, 6)), [(97, 98), (256, 99)])  # no pair is known
    yield call(spelled(draw, "a"), merges)
    yield call("", merges)
    yield call(spelled(draw, "ab ba b"), [])
    yield call("e\u0301\u00e9e\u0301", [(101, 204), (195, 169)])  # an accent of its own, and a letter that has it
    yield call("cd Äa", [(9, 10), (32, 97)])  # ids written side by side hold both: "99 100", "132 97"
    gaps = learned("  ab  ab  A\r\nA\r\n", 4)
    yield call("  ab  A  b  A\r\n ", gaps)


@encode.criterion("a list of ints; `merges` is left as it was", points=0.25, check_types=True)
def _(draw):
    text, merges = given(draw, "bab", "ab")
    yield call(text, merges).does_not_mutate()
    yield call(text=text, merges=merges)
    s = Script(text=text, merges=merges)
    first = s.call(EXERCISE, s.text, s.merges, name="first")
    s.call(method(first, "append"), 0)
    s.call(EXERCISE, s.text, s.merges, name="again")
    yield s.case(ref("again")).label("two calls, and a change of the first list in between")


@encode.sizes(points=0.25, length=(1, 30, 4000), n_merges=(0, 4, 60))
def _(draw, length, n_merges):
    # A capital and a small letter: no two pairs overlap, so that it does not matter which is joined first
    capital, small = 65 + draw.integer(0, 19), 97 + draw.integer(0, 19)
    pairs = [(capital + m % 8, small + m // 8) for m in range(60)]
    text = "".join(chr(left) + chr(right) for left, right in pairs * length)[:length]
    return call(text, pairs[:n_merges]).label(f"a text of {length} characters, {n_merges} merges")
