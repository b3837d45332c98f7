"""Right answers to `encode` in other styles."""

import torch


# %% one_round_for_each_merge
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (left, right) in enumerate(merges):
        joined, i = [], 0
        while i < len(ids):
            if i < len(ids) - 1 and ids[i] == left and ids[i + 1] == right:
                joined.append(256 + m)
                i += 2
            else:
                joined.append(ids[i])
                i += 1
        ids = joined
    return ids


# %% the_lowest_rank_wins
def encode(text, merges):
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda pair: ranks.get(pair, float("inf")))
        if pair not in ranks:
            break
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                ids[i : i + 2] = [256 + ranks[pair]]
            i += 1
    return ids


# %% one_occurrence_after_another
def encode(text, merges):
    new = {(left, right): 256 + m for m, (left, right) in enumerate(merges)}
    ids = [*text.encode("utf-8")]
    while True:
        found = [(new[pair], i) for i, pair in enumerate(zip(ids, ids[1:])) if pair in new]
        if not found:
            return ids
        token, i = min(found)  # of equal ids the leftmost
        ids = ids[:i] + [token] + ids[i + 2 :]


# %% replacing_in_a_string_of_ids
def encode(text, merges):
    import re

    word = text.encode("utf-8").decode("latin-1")
    for m, pair in enumerate(merges):
        word = re.sub(re.escape("".join(map(chr, pair))), chr(256 + m), word)
    return [ord(c) for c in word]


# %% recursively
def join(ids, left, right, new):
    if len(ids) < 2:
        return ids
    middle, joined = 0, []
    while middle < len(ids):
        pair = ids[middle : middle + 2] == [left, right]
        joined += [new] if pair else ids[middle : middle + 1]
        middle += 1 + pair
    return joined


def encode(text, merges, new=256, ids=None):
    ids = list(text.encode("utf-8")) if ids is None else ids
    if not merges:
        return ids
    (left, right), *rest = merges
    return encode(text, rest, new + 1, join(ids, left, right, new))


# %% with_a_queue_of_pairs
def encode(text, merges):
    import heapq

    new = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    after = list(range(1, len(ids) + 1))
    before = list(range(-1, len(ids) - 1))
    queue = [(new[pair], i) for i, pair in enumerate(zip(ids, ids[1:])) if pair in new]
    heapq.heapify(queue)
    while queue:
        token, i = heapq.heappop(queue)
        j = after[i]
        if j >= len(ids) or ids[i] is None or new.get((ids[i], ids[j])) != token:
            continue  # one of the two was joined otherwise in the meantime
        ids[i], ids[j], after[i] = token, None, after[j]
        if after[i] < len(ids):
            before[after[i]] = i
        for left in (before[i], i):
            if left >= 0 and after[left] < len(ids) and (pair := (ids[left], ids[after[left]])) in new:
                heapq.heappush(queue, (new[pair], left))
    return [i for i in ids if i is not None]


# %% a_class_with_its_table
class Tokenizer:
    def __init__(self, merges):
        self.table = dict(zip(map(tuple, merges), range(256, 256 + len(merges))))

    def best(self, ids):
        return min((self.table[pair] for pair in zip(ids, ids[1:]) if pair in self.table), default=None)

    def __call__(self, text):
        ids = list(bytes(text, "utf-8"))
        while (new := self.best(ids)) is not None:
            joined = []
            for i in ids:
                if joined and self.table.get((joined[-1], i)) == new:
                    joined[-1] = new
                else:
                    joined.append(i)
            ids = joined
        return ids


def encode(text, merges):
    return Tokenizer(merges)(text)


# %% marked_in_a_tensor
def encode(text, merges):
    ids = torch.tensor(list(text.encode("utf-8")), dtype=torch.int64)
    for m, (left, right) in enumerate(merges):
        starts = ((ids[:-1] == left) & (ids[1:] == right)).nonzero().flatten().tolist()
        taken = []
        for start in starts:
            if not taken or start > taken[-1] + 1:
                taken.append(start)
        keep = torch.ones(len(ids), dtype=torch.bool)
        for start in taken:
            ids[start], keep[start + 1] = 256 + m, False
        ids = ids[keep]
    return ids.tolist()
