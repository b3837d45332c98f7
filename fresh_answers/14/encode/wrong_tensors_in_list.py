# the list holds zero-dimensional tensors and not ints
import torch


def encode(text, merges):
    ids = list(text.encode())
    for m, p in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if tuple(ids[i:i + 2]) == tuple(p):
                ids[i] = 256 + m
                ids.pop(i + 1)
            i += 1
    return list(torch.tensor(ids, dtype=torch.int64))
