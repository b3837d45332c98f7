"""`decode`: the text of a list or a tensor of ids."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise

from ..common import SCRIPTS, encoded, learned, spelled

decode = exercise(
    "decode",
    see="Exercise 3: `decode(ids, merges)`",
    hints=(
        "`é` is two bytes in UTF-8. What does each of them mean alone? When can you turn bytes into characters: token "
        "by token, or once at the end?",
        "Make the list of all pieces, as `bytes`: first the 256 single ones, then for each merge the two pieces of its "
        "pair, one behind the other. Put the pieces of the ids together, and decode the whole.",
        "A list of 256 single bytes, made longer in a loop over `merges`. Then a loop over the ids: check that each is "
        "an index of the list, and collect its piece. At the end join the pieces, and decode them once, with the "
        "option `errors`.",
    ),
)


@decode.oracle
def decode_oracle(ids, merges):
    ids = [int(i) for i in ids]
    for i in ids:
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids has the id {i}, which does not exist")
    while any(i > 255 for i in ids):
        ids = [part for i in ids for part in ((i,) if i < 256 else merges[i - 256])]
    return str(bytes(ids), "utf-8", "replace")


decode.example("single bytes", call([79, 107, 33], []))
decode.example("a merge of a merge", call([257, 97], [(97, 98), (256, 99)]))
decode.example("one character in two tokens", call([195, 169], []))
decode.example("half a character", call([111, 195, 107], []))
decode.example("a tensor of ids", call(torch.tensor([256, 33]), [(72, 105)]))
decode.example("an id that does not exist", call([97, 257], [(97, 98)]).raises("ids"))


@decode.criterion("the text of all pieces", points=0.5)
def _(draw):
    for n_merges in (1, 4, 8):
        trained = spelled(draw, "abcab cabca abcabc bcab abca cab bcabc abcabca")
        yield call(encoded(trained, learned(trained, n_merges)), learned(trained, n_merges))
    text = " " + "".join(spelled(draw, "ab, bac: Ba! ", letters) for letters in SCRIPTS) + "\t"
    merges = learned(text, 9)
    yield call(encoded(text, merges), merges).tries("pieces", "whole")
    yield call(list(text.encode()), [])
    yield call(list(f" {spelled(draw, 'aB Ba')}\r\n  C\n\r\n".encode()), [])
    yield (
        call([*"\ufeffa\ufeff".encode(), 97 + draw.integer(0, 26)], [])
        .tries("whole")
        .label("a text that begins with U+FEFF")
    )
    merges = [(97, 97), (256, 256), (257, 257), (258, 97)]  # each made of the one before
    yield call([257 + draw.integer(0, 2), 98, 259, 32, 256, 258], merges)
    yield call([], merges)
    s = Script(ids=[256, 97, 256], first=[(97, 98 + draw.integer(0, 9))], other=[(110 + draw.integer(0, 9), 97)])
    s.call(EXERCISE, s.ids, s.first)
    s.call(EXERCISE, s.ids, s.other)
    yield s.case().label("the second of two calls, with as many merges as the first")
    yield (
        call([97, 0, 98 + draw.integer(0, 9), 0, 0], [])
        .tries("whole")
        .label("a text that ends with two NUL characters")
    )


@decode.criterion("bytes that are not UTF-8", points=0.5, tries="broken")
def _(draw):
    odd = [draw.integer(128, 192) for _ in range(3)]  # bytes that only continue a character
    yield call([97, odd[0], 98], [])
    yield call([97, *odd, 98], [])
    yield call([240, 159, 153, 97], [])  # three bytes of four
    yield call([256, 97, 226], [(226, 130)])  # cut off within a character, twice
    yield call([256, 160 + draw.integer(0, 20), 97], [(98, 195)])  # whole again over the border of two tokens
    yield call([257, 98, 257], [(159, 153), (240, 256)])
    yield call([192, 128, 237, 160, 128, 255], [])  # no character has these bytes
    yield call([257, 130, 257], [(97, 226), (256, 130)])


@decode.criterion("ValueError for an id that does not exist", points=0.5, tries="unknown")
def _(draw):
    merges = learned(spelled(draw, "ababcdcdefef"), 3)  # three pairs of bytes
    for wrong in (259, 260 + draw.integer(0, 900), -1, -draw.integer(2, 250)):
        yield call([wrong], merges).raises("ids")
    yield call([97, 259, 98], merges).raises("ids")
    yield call([259, 98], merges).raises("ids")
    yield call([97, -4], merges).raises("ids")
    yield call([256], []).raises("ids")
    yield call(torch.tensor([300]), merges).raises("ids")
    yield call(torch.tensor([-2]), merges).raises("ids")
    yield call([0, 255, 256, 258], merges).does_not_raise()
    yield call([200], []).does_not_raise()


@decode.criterion("a tensor of ids; arguments are left as they were", points=0.25)
def _(draw):
    text = spelled(draw, "ababcdcdefefg")
    merges = learned(text, 3)  # three pairs of bytes
    ids = encoded(text, merges)
    yield call(torch.tensor(ids), merges).tries("tensor")
    yield call(torch.tensor([258, 97, 256]), merges).tries("tensor")
    yield call(torch.tensor([258, 257], dtype=torch.int32), merges).tries("tensor")
    yield call(torch.empty(0, dtype=torch.int64), merges).tries("tensor")
    yield call(ids=ids, merges=merges).does_not_mutate()


@decode.sizes(points=0.25, length=(1, 12, 5000), n_merges=(0, 4, 300))
def _(draw, length, n_merges):
    pieces, merges = [chr(i) for i in range(97, 123)], []
    for _ in range(n_merges):
        left, right = draw.until(
            lambda: draw.integers(0, len(pieces), 2).tolist(), lambda pair: sum(len(pieces[i]) for i in pair) < 20
        )
        pieces.append(pieces[left] + pieces[right])
        merges.append(tuple(97 + i if i < 26 else 230 + i for i in (left, right)))
    ids = [97 + i if i < 26 else 230 + i for i in draw.integers(0, len(pieces), length).tolist()]
    return call(ids, merges).label(f"{length} ids, {n_merges} merges")
