"""Byte pairs learned by other rules than the contract's, texts that show the difference, and distributions."""

from itertools import pairwise

import torch

OTHER_SCRIPTS = ("Grüße, Zoë! ", "Ще не вмерла ", "日本語の本。", "🙂🙃🙂 ok ", "Ελλάδα ἀρχή\n", "naïve café\r\n")


def counted(ids, apart=False):
    """How often each pair of neighbours occurs, in the order of first occurrence; `apart`: only without overlaps."""
    found, last = {}, {}
    for i, pair in enumerate(pairwise(ids)):
        if apart and last.get(pair) == i - 1:
            continue
        last[pair] = i
        found[pair] = found.get(pair, 0) + 1
    return found


def joined(ids, pair, new, from_the_right=False):
    """`ids` with `pair` replaced by `new` wherever it occurs, from the left or from the right."""
    if from_the_right:
        return joined(ids[::-1], pair[::-1], new)[::-1]
    result = []
    for i in ids:
        if result and (result[-1], i) == pair:
            result[-1] = new
        else:
            result.append(i)
    return result


def pieces_of(merges):
    pieces = [bytes([i]) for i in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return pieces


# Ways to choose among pairs that occur equally often: the tied pairs, by first occurrence, and all pieces
TIES = {
    "smallest": lambda tied, pieces: min(tied),
    "largest": lambda tied, pieces: max(tied),
    "first": lambda tied, pieces: tied[0],
    "last": lambda tied, pieces: tied[-1],
    "least text": lambda tied, pieces: min(tied, key=lambda pair: [pieces[i] for i in pair]),
    "greatest text": lambda tied, pieces: max(tied, key=lambda pair: [pieces[i] for i in pair]),
    "smallest left": lambda tied, pieces: min(tied, key=lambda pair: pair[0]),
    "smallest right": lambda tied, pieces: min(tied, key=lambda pair: pair[::-1]),
    "smallest sum": lambda tied, pieces: min(tied, key=sum),
}
OTHER_TIES = tuple(name for name in TIES if name != "smallest")


def learned(text, n_merges, ties="smallest", **how):
    """The merges of a text, by the contract's rule or another one.

    how  apart: overlapping occurrences count once; from_the_right: they are joined from the right
    """
    ids, merges = list(text.encode("utf-8")), []
    apart, from_the_right = how.get("apart", False), how.get("from_the_right", False)
    for m in range(n_merges):
        found = counted(ids, apart)
        often = max(found.values(), default=0)
        if often < 2:
            break
        pair = TIES[ties]([pair for pair, n in found.items() if n == often], pieces_of(merges))
        ids = joined(ids, pair, 256 + m, from_the_right)
        merges.append(pair)
    return merges


def drawn_text(draw, letters, words, longest, gap=" "):
    """Words of random letters, some of them more often than others."""
    known = []
    for _ in range(words):
        if known and draw.number(0, 1) < 0.6:
            known.append(known[draw.integer(0, len(known))])
        else:
            length = draw.integer(1, longest + 1)
            known.append("".join(letters[int(i)] for i in draw.integers(0, len(letters), length)))
    return gap.join(known)


def is_plain(text, n_merges):
    """Whether no tie and no overlap occurs among the first `n_merges` merges."""
    right = learned(text, n_merges)
    rules = [{"ties": ties} for ties in OTHER_TIES] + [{"apart": True}, {"from_the_right": True}]
    return len(right) == n_merges and all(learned(text, n_merges, **rule) == right for rule in rules)


def plain_text(draw, n_merges, letters="abcde", words=16, longest=4):
    """A text whose first `n_merges` merges involve no tie and no overlap."""
    return draw.until(lambda: drawn_text(draw, letters, words, longest), lambda text: is_plain(text, n_merges))


def mixed_text(draw, words=6):
    """Words of several scripts, with capitals, line ends and spaces at both ends."""
    return " " + "".join(OTHER_SCRIPTS[int(i)] for i in draw.integers(0, len(OTHER_SCRIPTS), words)) + "\t"


def spread_logits(draw, probabilities, *shape):
    """Logits (*shape, N) whose rows have these probabilities, each in another order and with another constant added."""
    flat = torch.tensor(probabilities, dtype=torch.float64).log()
    count = torch.Size(shape).numel()
    rows = [flat[draw.permutation(len(flat))] + draw.number(-3.0, 3.0) for _ in range(count)]
    return torch.stack(rows).reshape(*shape, len(flat)).float()
