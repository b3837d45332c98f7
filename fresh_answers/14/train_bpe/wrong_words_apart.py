# the text is cut into words, so that no pair crosses the border of a word
import re
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges}")
    words = [list(w.encode()) for w in re.findall(r"\s*\S+|\s+", text)]
    merges = []
    for m in range(n_merges):
        counts = Counter(p for w in words for p in zip(w, w[1:]))
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        if counts[best] < 2:
            break
        merges.append(best)
        for w in words:
            i = 0
            while i < len(w) - 1:
                if (w[i], w[i + 1]) == best:
                    w[i:i + 2] = [256 + m]
                i += 1
    return merges
