# a negative n_merges gives an empty list and no ValueError
from collections import Counter


def train_bpe(text, n_merges):
    ids = list(bytes(text, "utf-8"))
    merges = []
    for new_id in range(256, 256 + n_merges):
        pairs = Counter(zip(ids, ids[1:]))
        if not pairs:
            return merges
        pair = min(pairs.keys(), key=lambda q: (-pairs[q], q[0], q[1]))
        if pairs[pair] < 2:
            return merges
        merges.append(pair)
        i = 0
        while i < len(ids) - 1:
            if ids[i] == pair[0] and ids[i + 1] == pair[1]:
                ids[i] = new_id
                del ids[i + 1]
            i += 1
    return merges
