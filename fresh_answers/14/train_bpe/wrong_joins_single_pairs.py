# goes on when the most frequent pair occurs only once
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges {n_merges} is below 0")
    s = text.encode().decode("latin1")
    merges = []
    for k in range(n_merges):
        counter = Counter(zip(s, s[1:]))
        if not counter:
            break
        a, b = min(counter, key=lambda ab: (-counter[ab], ab))
        merges.append((ord(a), ord(b)))
        s = s.replace(a + b, chr(256 + k))
    return merges
