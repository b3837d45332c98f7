# the list of merges is a default argument, so a second call goes on from the first one's
from collections import Counter


def train_bpe(text, n_merges, merges=[]):
    if n_merges < 0:
        raise ValueError(f"n_merges = {n_merges} < 0")
    s = text.encode().decode("latin1")
    for k in range(n_merges):
        c = Counter(zip(s, s[1:]))
        best = min(c, key=lambda ab: (-c[ab], ab), default=None)
        if best is None or c[best] < 2:
            break
        merges.append(tuple(map(ord, best)))
        s = s.replace("".join(best), chr(256 + k))
    return merges
