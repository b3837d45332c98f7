# ids are the characters of a str, and str.replace joins
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, but cannot be below zero")
    s = text.encode().decode("latin-1")
    learned = []
    while len(learned) < n_merges:
        tally = Counter(zip(s, s[1:]))
        if not tally:
            break
        (x, y), often = min(tally.items(), key=lambda item: (-item[1], item[0]))
        if often == 1:
            break
        s = s.replace(x + y, chr(256 + len(learned)))
        learned.append((ord(x), ord(y)))
    return learned
