# n_merges = 0 is refused
from collections import Counter


def train_bpe(text, n_merges):
    if not n_merges > 0:
        raise ValueError(f"n_merges must be positive, not {n_merges}")
    s, merges = [*text.encode()], []
    for m in range(n_merges):
        c = Counter(zip(s, s[1:])).most_common()
        c.sort(key=lambda kn: (-kn[1], kn[0]))
        if not c or c[0][1] < 2:
            break
        (a, b), _ = c[0]
        merges.append((a, b))
        t = []
        for x in s:
            if t[-1:] == [a] and x == b:
                t[-1] = 256 + m
            else:
                t.append(x)
        s = t
    return merges
