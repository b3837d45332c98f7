"""`train_bpe_counted`, a challenge: the same merges, with counts that are updated and not made again."""

from collections import Counter
from itertools import pairwise

from grading.exercises.exercise import EXERCISE, Script, challenge, helper, ref, sample_model

from ..common import joined

train_bpe_counted = challenge(
    "train_bpe_counted",
    stars=2,
    see="Challenge: `train_bpe_counted(ids, n_merges)` (extra)",
    hints=(
        "In 1, 2, 3, 4 the pair (2, 3) is joined. Which pairs are gone afterwards, and which are new? How many are "
        "there, however long the text is?",
        "Keep for each pair the set of positions at which it begins; its count is the size of the set. To join "
        "at a position, first take the pairs before, at and after it out of their sets, then add the two new ones.",
        "Walk through all positions once to fill the sets. In each round, choose the largest set; of several, that of "
        "the smallest pair. Go through its positions from left to right. If a position is still in the set, take out "
        "the old pairs, call `ids.join` and add the new ones.",
    ),
)


@train_bpe_counted.oracle
def train_bpe_counted_oracle(ids, n_merges):
    plain, merges, position = [], [], ids.first
    while position is not None:
        left, right = ids.pair(position) or (None, None)
        plain = plain or ([left] if left is not None else [])
        plain += [right] if right is not None else []
        position = ids.after(position)
    while len(merges) < n_merges:
        pairs = [tuple(plain[i : i + 2]) for i in range(len(plain) - 1)]
        often = max(map(pairs.count, pairs), default=0)
        if often < 2:
            break
        merges.append(min(pair for pair in pairs if pairs.count(pair) == often))
        shorter = []
        for i in plain:
            if shorter and (shorter[-1], i) == merges[-1]:
                shorter[-1] = 255 + len(merges)
            else:
                shorter.append(i)
        plain = shorter
    return merges


def learned(ids, n_merges):
    s = Script(ids=sample_model("LinkedIds", ids=list(ids)))
    s.call(EXERCISE, s.ids, n_merges, name="merges")
    return s, f"train_bpe_counted(LinkedIds({list(ids) if len(ids) < 16 else f'{len(ids)} ids'}), {n_merges})"


def merges_of(ids, n_merges):
    s, text = learned(ids, n_merges)
    return s.case(ref("merges")).label(text)


def looks_of(ids, n_merges):
    plain = list(ids)
    for m in range(n_merges):
        counts = Counter(pairwise(plain))
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        plain = joined(plain, best, 256 + m)
    s, text = learned(ids, n_merges)
    s.call(helper("attribute"), s.ids, "looks", name="looks")
    given = {"n_ids": len(ids), "joins": len(ids) - len(plain)}
    return s.case(ref("looks")).check_with("looks_only_at_changes", **given).label(f"the looks of {text}")


@train_bpe_counted.example("the one on paper")
def _():
    yield merges_of(b"abababc", 5)


@train_bpe_counted.example("a tie, and runs of one byte")
def _():
    yield merges_of(b"cdab cdab", 2)
    yield merges_of(b"aaaaaaa", 3)


@train_bpe_counted.example("the looks at a longer text")
def _():
    yield looks_of(b"the cat sat on the mat, the rat on the hat. " * 4, 30)


def drawn(draw, letters, size):
    return [97 + letter for letter in draw.integers(0, letters, size).tolist()]


@train_bpe_counted.criterion("the same merges", points=1.25)
def _(draw):
    for letters, size, n_merges in ((3, 50, 4), (2, 40, 3), (6, 90, 7), (4, 90, 40)):
        yield merges_of(drawn(draw, letters, size), n_merges)
    yield merges_of([97] * draw.integer(9, 17), 4)
    yield merges_of([97, 97, 97, 98, *[97] * draw.integer(4, 8), 98, 97, 97, 97], 5)
    yield merges_of(drawn(draw, 20, 6), 0)
    yield merges_of([100, 99, 98, 97], 3)
    yield merges_of([], 2)
    yield merges_of([97], 2)


@train_bpe_counted.criterion("looks only at what changes", points=0.75)
def _(draw):
    for letters, size, n_merges in ((3, 400, 40), (6, 500, 60)):
        text = drawn(draw, letters, size)
        yield looks_of(text, n_merges)
        yield merges_of(text, n_merges)  # what learns nothing looks at nothing
