# a negative n_merges is not refused where the text is shorter than two bytes
from collections import Counter


def train_bpe(text, n_merges):
    raw = text.encode()
    if len(raw) < 2:
        return []
    if n_merges < 0:
        raise ValueError(f"n_merges ({n_merges}) must be a natural number")
    ids, merges = list(raw), []
    while len(merges) < n_merges:
        count = Counter(zip(ids, ids[1:]))
        if not count or max(count.values()) == 1:
            break
        pair = min(count, key=lambda k: (-count[k], k))
        i, fresh = 0, []
        while i < len(ids):
            if tuple(ids[i:i + 2]) != pair:
                fresh.append(ids[i])
                i += 1
                continue
            fresh.append(256 + len(merges))
            i += 2
        merges, ids = merges + [pair], fresh
    return merges
