# the message of the ValueError does not say the value of n_merges
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError("n_merges must not be negative")
    w = [chr(b) for b in text.encode()]
    merges = []
    for k in range(n_merges):
        best = sorted(Counter(zip(w, w[1:])).items(), key=lambda e: (-e[1], e[0]))[:1]
        if not best or best[0][1] < 2:
            break
        pair = best[0][0]
        merges.append((ord(pair[0]), ord(pair[1])))
        w = list("".join(w).replace(pair[0] + pair[1], chr(k + 256)))
    return merges
