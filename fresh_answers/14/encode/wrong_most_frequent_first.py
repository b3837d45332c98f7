# of the learned pairs that occur, the most frequent one in this text is joined first
from collections import Counter


def encode(text, merges):
    rank = {p: m for m, p in enumerate(merges)}
    ids = list(text.encode())
    while True:
        c = Counter(p for p in zip(ids, ids[1:]) if p in rank)
        if not c:
            return ids
        pair = min(c, key=lambda p: (-c[p], rank[p]))
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                ids[i:i + 2] = [256 + rank[pair]]
            i += 1
