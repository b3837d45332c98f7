"""Other ways to encode, and texts for which they give other ids."""

from itertools import pairwise

from ..common import joined, pieces_of


def encoded(text, merges, from_the_right=False):
    """The contract's ids: since no merge makes a pair of an earlier one, one round for each merge is enough."""
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        ids = joined(ids, pair, 256 + m, from_the_right)
    return ids


def by_longest_piece(text, merges):
    """At each position the longest piece that fits."""
    data, pieces, ids, place = text.encode("utf-8"), pieces_of(merges), [], 0
    while place < len(data):
        i = max((i for i, piece in enumerate(pieces) if data.startswith(piece, place)), key=lambda i: len(pieces[i]))
        ids.append(i)
        place += len(pieces[i])
    return ids


def by_choice(choose):
    """As long as a learned pair occurs, the one that `choose` takes, of its positions or its name in `merges`."""

    def encode(text, merges):
        ids = list(text.encode("utf-8"))
        while True:
            there = [pair for pair in pairwise(ids) if pair in merges]
            if not there:
                return ids
            pair = choose(there, merges)
            ids = joined(ids, pair, 256 + merges.index(pair))

    return encode


def once_through(text, merges):
    """Each learned pair that is met on the way from left to right."""
    ids, found = list(text.encode("utf-8")), []
    while ids:
        known = tuple(ids[:2]) in merges
        found.append(256 + merges.index(tuple(ids[:2])) if known else ids[0])
        ids = ids[1 + known :]
    return found


def in_rounds(text, merges):
    """One round for each merge, but of single bytes only."""
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        ids = joined(ids, pair, 256 + m) if max(pair) < 256 else ids
    return ids


def backwards(text, merges):
    """One round for each merge, the last one first."""
    ids = list(text.encode("utf-8"))
    for m in reversed(range(len(merges))):
        ids = joined(ids, merges[m], 256 + m)
    return ids


OTHERS = {
    "longest piece": by_longest_piece,
    "leftmost pair": by_choice(lambda there, merges: there[0]),
    "rightmost pair": by_choice(lambda there, merges: there[-1]),
    "learned last": by_choice(lambda there, merges: max(there, key=merges.index)),
    "most frequent": by_choice(lambda there, merges: max(sorted(set(there), key=merges.index), key=there.count)),
    "smallest pair": by_choice(lambda there, merges: min(there)),
    "once through": once_through,
    "pairs of bytes": in_rounds,
    "backwards": backwards,
}


def drawn_merges(draw, text, n_merges):
    """Merges that get in each other's way: in each round some pair of the text, not its most frequent one."""
    ids, merges = list(text.encode("utf-8")), []
    for m in range(n_merges):
        place = draw.integer(0, len(ids) - 1)
        merges.append((ids[place], ids[place + 1]))
        ids = joined(ids, merges[-1], 256 + m)
    return merges


def telling(draw, letters, n_merges, length, others=OTHERS):
    """A text and merges, for which each of these other ways gives other ids than the contract and the rest."""
    for _ in range(5000):
        trained, text = ("".join(letters[int(i)] for i in draw.integers(0, len(letters), length)) for _ in range(2))
        merges = drawn_merges(draw, trained, n_merges)
        results = [encoded(text, merges)]
        for name in others:
            results.append(OTHERS[name](text, merges))
            if results[-1] in results[:-1]:
                break
        else:
            return text, merges
    raise RuntimeError(f"no drawn text tells apart {', '.join(others)}")
