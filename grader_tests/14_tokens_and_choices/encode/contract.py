"""`encode`: the ids of a text, by merges that were learned."""

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, ref

from ..common import drawn_text, learned, mixed_text, plain_text
from .cases import drawn_merges, encoded, telling

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


@encode.criterion("the pair that was learned first is joined first", points=1.25, tries="first left")
def _(draw):
    yield call(*telling(draw, "abc", 2, 8, ["leftmost pair"]))
    yield call(*telling(draw, "abc", 3, 10, ["leftmost pair", "longest piece"]))
    yield call(*telling(draw, "abc", 3, 12, ["learned last", "rightmost pair", "once through"]))
    yield call(*telling(draw, "abc", 5, 20, ["most frequent", "smallest pair", "longest piece", "pairs of bytes"]))
    for _ in range(3):
        yield call(*telling(draw, "abc", 8, 60)).label("a text of 60 letters, 8 merges")


@encode.criterion("every occurrence, from left to right", points=0.5, tries="left")
def _(draw):
    def runs(n_merges):
        def make():
            return "".join("ab"[i % 2] * draw.integer(1, 7) for i in range(7))

        merges = learned(draw.until(make, lambda text: len(learned(text, n_merges)) == n_merges), n_merges)
        return call(draw.until(make, lambda text: encoded(text, merges, True) != encoded(text, merges)), merges)

    yield call("a" * draw.integer(2, 12), [(97, 97)])
    yield call("a" * 7, [(97, 97)])
    yield call("a" * draw.integer(9, 20), [(97, 97), (256, 256)])
    yield call("a" * 7, [(97, 97), (256, 97), (256, 256)])
    yield runs(2)
    yield runs(4)


@encode.criterion("any text, also one that was never seen", points=0.75, tries="unseen")
def _(draw):
    for n_merges in (2, 6):
        trained = draw.until(lambda: mixed_text(draw), lambda text, n=n_merges: len(learned(text, n)) == n)
        yield call(trained, learned(trained, n_merges))
        yield call(mixed_text(draw), learned(trained, n_merges))
    merges = learned(plain_text(draw, 3), 3)
    yield call("".join("vwxyz"[int(i)] for i in draw.integers(0, 5, 6)), merges)  # no pair of it is known
    yield call("abcde"[draw.integer(0, 5)], merges)
    yield call("", merges)
    yield call(drawn_text(draw, "abc", 4, 3), [])
    yield call("e\u0301\u00e9e\u0301", [(101, 204), (195, 169)])  # an accent of its own, and a letter that has it
    gaps = learned("  ab  ab  A\r\nA\r\n", 4)
    yield call(f"  {drawn_text(draw, 'abA', 4, 2, gap='  ')}\r\n ", gaps)


@encode.criterion("a list of ints; `merges` is left as it was", points=0.25, check_types=True)
def _(draw):
    merges = learned(plain_text(draw, 4), 4)
    yield call(drawn_text(draw, "abcde", 8, 4), merges).does_not_mutate()
    yield call(text=drawn_text(draw, "abcde", 6, 4), merges=merges)
    s = Script(text=drawn_text(draw, "abcde", 6, 4), merges=merges)
    first = s.call(EXERCISE, s.text, s.merges, name="first")
    s.call(method(first, "append"), 0)
    s.call(EXERCISE, s.text, s.merges, name="again")
    yield s.case(ref("again")).label("two calls, and a change of the first list in between")


@encode.sizes(points=0.25, length=(1, 30, 4000), n_merges=(0, 4, 60))
def _(draw, length, n_merges):
    trained, text = ("".join("abcde"[int(i)] for i in draw.integers(0, 5, n)) for n in (400, length))
    merges = drawn_merges(draw, trained, n_merges)
    return call(text, merges).label(f"a text of {length} characters, {n_merges} merges")
