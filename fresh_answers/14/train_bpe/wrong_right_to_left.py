# a pair is joined from right to left, so aaa becomes a X and not X a
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges has to be >= 0 but is {n_merges}")
    ids, merges = list(text.encode("utf-8")), []
    while len(merges) < n_merges:
        counts = Counter(zip(ids[:-1], ids[1:]))
        best = min(counts, key=lambda p: (-counts[p], p)) if counts else None
        if best is None or counts[best] == 1:
            break
        i = len(ids) - 2
        while i >= 0:
            if (ids[i], ids[i + 1]) == best:
                ids[i:i + 2] = [256 + len(merges)]
                i -= 1
            i -= 1
        merges.append(best)
    return merges
