# ties are broken by the bytes of the pieces and not by the ids
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must not be negative, got {n_merges}")
    piece = {i: bytes([i]) for i in range(256)}
    seq = list(text.encode())
    merges = []
    for _ in range(n_merges):
        c = Counter(zip(seq, seq[1:]))
        if not c or max(c.values()) < 2:
            break
        top = max(c.values())
        a, b = min((p for p in c if c[p] == top), key=lambda p: (piece[p[0]], piece[p[1]]))
        fresh = len(piece)
        piece[fresh] = piece[a] + piece[b]
        merges.append((a, b))
        out = []
        while seq:
            if seq[:2] == [a, b]:
                out.append(fresh)
                seq = seq[2:]
            else:
                out.append(seq[0])
                seq = seq[1:]
        seq = out
    return merges
