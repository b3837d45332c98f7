# starts from the code points of the text and not from its UTF-8 bytes
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges may not be {n_merges}")
    ids = [ord(ch) for ch in text]
    merges = []
    for fresh in range(256, 256 + n_merges):
        c = Counter(zip(ids, ids[1:])).items()
        n, pair = min(((-n, pair) for pair, n in c), default=(0, ()))
        if n >= -1:
            break
        merges.append(pair)
        out, skip = [], False
        for a, b in zip(ids, ids[1:] + [-1]):
            if skip:
                skip = False
            elif (a, b) == pair:
                out.append(fresh)
                skip = True
            else:
                out.append(a)
        ids = out
    return merges
