# overlapping occurrences are not counted: aaa has a a once
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges cannot be {n_merges}")
    line = "".join(map(chr, text.encode("utf-8")))
    pairs = []
    for k in range(n_merges):
        candidates = {line[i:i + 2] for i in range(len(line) - 1)}
        best = min(candidates, key=lambda c: (-line.count(c), c), default=None)
        if best is None or line.count(best) < 2:
            break
        pairs.append(tuple(map(ord, best)))
        line = line.replace(best, chr(256 + k))
    return pairs
