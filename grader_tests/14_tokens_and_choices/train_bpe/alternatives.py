"""Right answers to `train_bpe` in other styles."""

import torch


# %% with_a_counter
def train_bpe(text, n_merges):
    from collections import Counter

    if n_merges < 0:
        raise ValueError(f"n_merges must not be negative, got {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    while len(merges) < n_merges:
        counts = Counter(zip(ids[:-1], ids[1:]))
        often = max(counts.values(), default=0)
        if often < 2:
            return merges
        pair = min(p for p in counts if counts[p] == often)
        new, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
                new.append(256 + len(merges))
                i += 2
            else:
                new.append(ids[i])
                i += 1
        ids = new
        merges.append(pair)
    return merges


# %% by_sorting_the_counts
def most_frequent(ids):
    counts = {}
    for left, right in zip(ids, ids[1:]):
        counts.setdefault((left, right), []).append(1)
    ranked = sorted((-len(ones), pair) for pair, ones in counts.items())
    return ranked[0] if ranked else (0, None)


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError("n_merges = %d" % n_merges)
    ids, merges = [*text.encode()], []
    for new in range(256, 256 + n_merges):
        minus, pair = most_frequent(ids)
        if minus > -2:
            break
        place = 0
        while place + 1 < len(ids):
            if (ids[place], ids[place + 1]) == pair:
                ids[place : place + 2] = [new]
            place += 1
        merges.append(pair)
    return merges


# %% replacing_in_a_string_of_ids
def train_bpe(text, n_merges):
    import re

    if n_merges < 0:
        raise ValueError(f"n_merges: {n_merges}")
    word = text.encode("utf-8").decode("latin-1")
    merges = []
    for m in range(n_merges):
        counts = {}
        for i in range(1, len(word)):
            pair = word[i - 1 : i + 1]
            counts[pair] = counts.get(pair, 0) + 1
        best, often = "", 1
        for pair, count in counts.items():
            if count > often or (count == often > 1 and pair < best):
                best, often = pair, count
        if not best:
            break
        word = re.sub(re.escape(best), chr(256 + m), word)
        merges.append(tuple(map(ord, best)))
    return merges


# %% recursively
def learn(ids, new, left):
    counts = {}
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    if left == 0 or not counts or max(counts.values()) == 1:
        return []
    pair = min(counts, key=lambda pair: (-counts[pair], *pair))
    joined = []
    for i in ids:
        if joined and joined[-1] == pair[0] and i == pair[1]:
            joined[-1] = new
        else:
            joined.append(i)
    return [pair, *learn(joined, new + 1, left - 1)]


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    return learn(list(bytes(text, "utf-8")), 256, n_merges)


# %% by_a_matrix_of_counts
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, but must be at least 0")
    ids, merges = torch.tensor(list(text.encode("utf-8")), dtype=torch.int64), []
    for m in range(n_merges):
        size = 256 + m
        counts = torch.bincount(ids[:-1] * size + ids[1:], minlength=1)
        place = int((counts == counts.max()).nonzero()[0])  # the first of the most frequent is the smallest
        if counts[place] < 2:
            break
        pair = divmod(place, size)
        left, joined = None, []
        for i in ids.tolist():
            if left is not None and (left, i) == pair:
                joined[-1], left = size, None
            else:
                joined.append(i)
                left = i
        ids = torch.tensor(joined)
        merges.append(pair)
    return merges


# %% a_class_that_holds_the_ids
class Trainer:
    def __init__(self, text):
        self.ids, self.merges = list(text.encode("utf-8")), []

    def pairs(self):
        return [(self.ids[i], self.ids[i + 1]) for i in range(len(self.ids) - 1)]

    def best(self):
        pairs = sorted(self.pairs())
        runs = {}
        for pair in pairs:
            runs[pair] = runs.get(pair, 0) + 1
        return max(runs.items(), key=lambda item: item[1], default=(None, 0))  # the first maximum, in sorted order

    def join(self, pair):
        ids, self.ids = iter(self.ids), []
        waiting = next(ids)
        for i in ids:
            if waiting is not None and (waiting, i) == pair:
                self.ids.append(256 + len(self.merges))
                waiting = None
                continue
            if waiting is not None:
                self.ids.append(waiting)
            waiting = i
        if waiting is not None:
            self.ids.append(waiting)
        self.merges.append(pair)


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    trainer = Trainer(text)
    for _ in range(n_merges):
        pair, count = trainer.best()
        if count < 2:
            break
        trainer.join(pair)
    return trainer.merges


# %% positions_of_each_pair
def train_bpe(text, n_merges):
    from collections import defaultdict

    if not n_merges >= 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids, merges = list(text.encode("utf-8")), []
    for m in range(n_merges):
        places = defaultdict(list)
        for i in range(len(ids) - 1):
            places[ids[i], ids[i + 1]].append(i)
        pair = min(places, key=lambda pair: (-len(places[pair]), pair), default=None)
        if pair is None or len(places[pair]) < 2:
            return merges
        gone = set()
        for i in places[pair]:
            if i not in gone:
                ids[i] = 256 + m
                gone.add(i + 1)
        ids = [i for place, i in enumerate(ids) if place not in gone]
        merges.append(pair)
    return merges
