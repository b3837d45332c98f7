# a stack joins: the top of it and the next id
from itertools import pairwise


def _joined(ids, left, right, new):
    stack = []
    for current in ids:
        if stack and stack[-1] == left and current == right:
            stack[-1] = new
        else:
            stack.append(current)
    return stack


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"{n_merges=}: a negative number of merges makes no sense")
    ids = [*text.encode()]
    merges = []
    for new in range(256, 256 + n_merges):
        occurrences = {}
        for pair in pairwise(ids):
            occurrences[pair] = occurrences.get(pair, 0) + 1
        ranked = sorted(occurrences, key=lambda pair: (-occurrences[pair], pair))
        if not ranked or occurrences[ranked[0]] < 2:
            break
        merges += [ranked[0]]
        ids = _joined(ids, *ranked[0], new)
    return merges
