# of pairs that occur equally often, the one seen first in the text is taken
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0, not {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        pair = max(counts, key=counts.get)
        if counts[pair] < 2:
            break
        merges.append(pair)
        new, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                new.append(256 + m)
                i += 2
            else:
                new.append(ids[i])
                i += 1
        ids = new
    return merges
