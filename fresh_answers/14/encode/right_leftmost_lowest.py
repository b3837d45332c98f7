# joins one occurrence at a time: of those with the lowest rank, the leftmost
def encode(text, merges):
    rank = {tuple(pair): m for m, pair in reversed(list(enumerate(merges)))}
    ids = [*bytes(text, "utf-8")]
    none = len(merges)
    while (best := min(((rank.get(p, none), i) for i, p in enumerate(zip(ids, ids[1:]))), default=(none, 0)))[0] < none:
        m, i = best
        ids[i:i + 2] = [256 + m]
    return ids
