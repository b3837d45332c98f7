# line ends are normalised, so that a carriage return is lost
from collections import Counter
import io


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is negative: {n_merges}")
    s = io.StringIO(text, newline=None).read().encode().decode("latin1")
    merges = []
    while len(merges) < n_merges and len(s) > 1:
        c = Counter(s[i:i + 2] for i in range(len(s) - 1))
        k = min(c, key=lambda two: (-c[two], two))
        if c[k] < 2:
            break
        merges.append((ord(k[0]), ord(k[1])))
        s = s.replace(k, chr(255 + len(merges)))
    return merges
