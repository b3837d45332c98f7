# a new id is one above the largest id in the text, and not 256 + m
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges: {n_merges} < 0")
    ids, merges = list(text.encode()), []
    for _ in range(n_merges):
        c = Counter(zip(ids, ids[1:]))
        p = min(c, key=lambda t: (-c[t], t), default=None)
        if p is None or c[p] < 2:
            break
        fresh, stack = max(ids) + 1, []
        for x in ids:
            if stack and (stack[-1], x) == p:
                stack[-1] = fresh
            else:
                stack.append(x)
        ids = stack
        merges.append(p)
    return merges
