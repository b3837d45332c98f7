# counts with torch.unique over numbers that hold both ids
import torch


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges: expected a count, received {n_merges}")
    big = 1 << 31
    ids, merges = torch.tensor(list(text.encode("utf8")), dtype=torch.int64), []
    while n_merges > len(merges) and len(ids) >= 2:
        keys, counts = torch.unique(ids[:-1] * big + ids[1:], return_counts=True)
        top = int(counts.max())
        if top == 1:
            break
        key = int(keys[counts == top].min())
        a, b = key // big, key % big
        merges.append((a, b))
        row, shorter, i = ids.tolist(), [], 0
        while i < len(row):
            hit = row[i:i + 2] == [a, b]
            shorter.append(255 + len(merges) if hit else row[i])
            i += 2 if hit else 1
        ids = torch.tensor(shorter)
    return merges
