# the empty text, and one of a single byte, raise an error
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges should be >= 0, it is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for idx in range(256, 256 + n_merges):
        pairs = Counter(zip(ids, ids[1:]))
        most = max(pairs.values())
        if most < 2:
            break
        pair = min(p for p, n in pairs.items() if n == most)
        joined, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                joined += [idx]
                i += 2
            else:
                joined += [ids[i]]
                i += 1
        ids = joined
        merges.append(pair)
        if len(ids) < 2:
            break
    return merges
