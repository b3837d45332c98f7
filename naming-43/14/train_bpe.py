# %% wrong: code_points | Starts from the Unicode code points of the text instead of its UTF-8 bytes, so every character outside ASCII gets an id of its own.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0, got {n_merges}")
    ids = [ord(c) for c in text]
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges

# %% wrong: ties_first_seen | Takes, of pairs that are equally frequent, the one that comes first in the text (most_common) instead of the smallest pair.
from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges} is negative")
    tokens = list(text.encode("utf-8"))
    merges = []
    while len(merges) < n_merges:
        stats = Counter(zip(tokens, tokens[1:]))
        if not stats:
            break
        (pair, freq), = stats.most_common(1)
        if freq < 2:
            break
        new_id = 256 + len(merges)
        merged = []
        i = 0
        while i < len(tokens):
            if tuple(tokens[i:i + 2]) == pair:
                merged.append(new_id)
                i += 2
            else:
                merged.append(tokens[i])
                i += 1
        tokens = merged
        merges.append(pair)
    return merges

# %% wrong: ties_largest | Takes the largest of the equally frequent pairs, because max compares (count, pair) and the larger pair wins the tie.
from collections import Counter

def _merge(seq, pair, idx):
    res, k = [], 0
    while k < len(seq):
        if k < len(seq) - 1 and seq[k] == pair[0] and seq[k + 1] == pair[1]:
            res.append(idx)
            k += 2
        else:
            res.append(seq[k])
            k += 1
    return res

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges has to be >= 0 but is {n_merges}")
    seq = list(text.encode())
    merges = []
    for step in range(n_merges):
        c = Counter(zip(seq[:-1], seq[1:]))
        count, pair = max(((v, k) for k, v in c.items()), default=(0, None))
        if count < 2:
            return merges
        seq = _merge(seq, pair, 256 + step)
        merges.append(pair)
    return merges

# %% wrong: counts_without_overlap | Counts occurrences that do not overlap, so that "aaa" has the pair "a a" only once.
def count(ids):
    table = {}
    last = {}
    for i in range(len(ids) - 1):
        pair = (ids[i], ids[i + 1])
        if last.get(pair, -2) == i - 1:      # shares a token with the one before
            continue
        table[pair] = table.get(pair, 0) + 1
        last[pair] = i
    return table

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must not be negative: {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        table = count(ids)
        if not table:
            break
        top = max(table.values())
        if top < 2:
            break
        pair = min(k for k in table if table[k] == top)
        merges.append(pair)
        new, i = [], 0
        while i < len(ids):
            if i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair:
                new += [256 + m]
                i += 2
            else:
                new += [ids[i]]
                i += 1
        ids = new
    return merges

# %% wrong: merges_single_pairs | Goes on joining pairs that occur only once, until the text is one single token.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges = {n_merges}, must be >= 0")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        if len(ids) < 2:
            break
        counts = {}
        for a, b in zip(ids, ids[1:]):
            counts[a, b] = counts.get((a, b), 0) + 1
        best = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[0][0]
        merges.append(best)
        out = []
        skip = False
        for i, x in enumerate(ids):
            if skip:
                skip = False
            elif i + 1 < len(ids) and (x, ids[i + 1]) == best:
                out.append(256 + m)
                skip = True
            else:
                out.append(x)
        ids = out
    return merges

# %% wrong: needs_three | Stops as soon as the best pair occurs only twice, although two occurrences are enough for a merge.
import collections

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError("n_merges must be >= 0, but it is %d" % n_merges)
    s = "".join(chr(b) for b in text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = collections.Counter(zip(s, s[1:]))
        if not counts:
            break
        most = max(counts.values())
        if most <= 2:
            break
        a, b = min(pair for pair, n in counts.items() if n == most)
        s = s.replace(a + b, chr(256 + m))
        merges.append((ord(a), ord(b)))
    return merges

# %% wrong: join_overlaps | Joins overlapping occurrences twice: it advances by one after a match, so the second id of a pair is used again.
class Trainer:
    def __init__(self, text):
        self.ids = list(text.encode("utf-8"))
        self.merges = []

    def best(self):
        counts = {}
        for p in zip(self.ids, self.ids[1:]):
            counts[p] = counts.get(p, 0) + 1
        if not counts:
            return None
        p = min(counts, key=lambda q: (-counts[q], q))
        return p if counts[p] >= 2 else None

    def join(self, pair):
        ids, new = self.ids, 256 + len(self.merges)
        hit = [(ids[i], ids[i + 1]) == pair for i in range(len(ids) - 1)] + [False]
        out = []
        for i in range(len(ids)):
            if hit[i]:
                out.append(new)
            elif i > 0 and hit[i - 1]:
                continue
            else:
                out.append(ids[i])
        self.ids = out
        self.merges.append(pair)

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be non-negative, not {n_merges}")
    t = Trainer(text)
    for _ in range(n_merges):
        pair = t.best()
        if pair is None:
            break
        t.join(pair)
    return t.merges

# %% wrong: join_from_the_right | Joins from right to left, so a run of an odd number of equal ids keeps its first id instead of its last one.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0, got {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        i = len(ids) - 2
        while i >= 0:
            if (ids[i], ids[i + 1]) == best:
                ids[i:i + 2] = [256 + m]
                i -= 2
            else:
                i -= 1
    return merges

# %% wrong: pieces_not_ids | Returns the merges as pairs of bytes pieces, not as pairs of ids.
from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be >= 0 (got {n_merges})")
    vocab = {i: bytes([i]) for i in range(256)}
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        pair = min(counts, key=lambda p: (-counts[p], p))
        if counts[pair] < 2:
            break
        vocab[256 + m] = vocab[pair[0]] + vocab[pair[1]]
        merges.append((vocab[pair[0]], vocab[pair[1]]))
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges

# %% wrong: dict_of_merges | Returns a dict from pairs to new ids (as in minbpe) instead of a list of pairs.
def get_stats(ids):
    counts = {}
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    return counts

def merge(ids, pair, idx):
    newids = []
    i = 0
    while i < len(ids):
        if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            newids.append(idx)
            i += 2
        else:
            newids.append(ids[i])
            i += 1
    return newids

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be >= 0, got {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = {}
    for i in range(n_merges):
        stats = get_stats(ids)
        if not stats:
            break
        pair = min(stats, key=lambda p: (-stats[p], p))
        if stats[pair] < 2:
            break
        idx = 256 + i
        ids = merge(ids, pair, idx)
        merges[pair] = idx
    return merges

# %% wrong: reserved_id | Gives the first merge the id 257, keeping 256 free for an end-of-text token, so all later merges refer to ids one too high.
EOT = 256

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges should be >= 0: {n_merges}")
    ids = list(bytes(text, "utf-8"))
    merges = []
    next_id = EOT + 1
    for _ in range(n_merges):
        counts = {}
        for i in range(len(ids) - 1):
            counts.setdefault((ids[i], ids[i + 1]), []).append(i)
        counts = {pair: len(where) for pair, where in counts.items()}
        if max(counts.values(), default=0) < 2:
            break
        pair = min(counts, key=lambda p: (-counts[p], p))
        out, i = [], 0
        while i < len(ids):
            if (ids[i:i + 2]) == list(pair):
                out.append(next_id)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(pair)
        next_id += 1
    return merges

# %% wrong: no_error | Takes a negative n_merges for 0 and returns an empty list instead of raising ValueError.
from collections import Counter

def train_bpe(text, n_merges):
    ids = list(text.encode("utf-8"))
    merges = []
    for new in range(256, 256 + n_merges):
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        if counts[best] == 1:
            break
        merges.append(best)
        joined = []
        for x in ids:
            if joined and (joined[-1], x) == best:
                joined[-1] = new
            else:
                joined.append(x)
        ids = joined
    return merges

# %% wrong: within_words | Splits the text at spaces first and counts and joins pairs only within words, so no pair ever crosses the edge of a word.
import re
from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be >= 0, got {n_merges}")
    words = [list(w.encode("utf-8")) for w in re.findall(r" ?\S+|\s+", text)]
    merges = []
    for m in range(n_merges):
        counts = Counter()
        for w in words:
            counts.update(zip(w, w[1:]))
        if not counts:
            break
        pair = min(counts, key=lambda p: (-counts[p], p))
        if counts[pair] < 2:
            break
        merges.append(pair)
        for k, w in enumerate(words):
            out, i = [], 0
            while i < len(w):
                if tuple(w[i:i + 2]) == pair:
                    out.append(256 + m)
                    i += 2
                else:
                    out.append(w[i])
                    i += 1
            words[k] = out
    return merges

# %% wrong: counts_only_once | Counts the pairs once, in the bytes of the text, and returns the n_merges most frequent ones, without joining and counting anew after each merge.
from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be >= 0 and not {n_merges}")
    raw = text.encode("utf-8")
    counts = Counter(zip(raw, raw[1:]))
    ranked = sorted(counts, key=lambda pair: (-counts[pair], pair))
    return [pair for pair in ranked if counts[pair] >= 2][:n_merges]

# %% wrong: joins_first_only | Joins only the first occurrence of the best pair instead of all of them.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0; it is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        pairs = list(zip(ids, ids[1:]))
        counts = {p: 0 for p in pairs}
        for p in pairs:
            counts[p] += 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        where = pairs.index(best)
        ids = ids[:where] + [256 + m] + ids[where + 2:]
        merges.append(best)
    return merges

# %% right: plain_loop
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0, got {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges

# %% right: string_replace
from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError("n_merges must be >= 0, but it is %d" % n_merges)
    s = text.encode("utf-8").decode("latin-1")       # one character for each byte
    merges = []
    for m in range(n_merges):
        counts = Counter(zip(s, s[1:]))
        most = max(counts.values(), default=0)
        if most < 2:
            break
        a, b = min(pair for pair, n in counts.items() if n == most)
        s = s.replace(a + b, chr(256 + m))
        merges.append((ord(a), ord(b)))
    return merges

# %% right: trainer_class
class BPE:
    def __init__(self, data):
        self.data = data
        self.merges = []

    def step(self):
        counts = {}
        for i in range(1, len(self.data)):
            key = self.data[i - 1], self.data[i]
            counts[key] = counts.get(key, 0) + 1
        ranked = sorted((-n, key) for key, n in counts.items() if n > 1)
        if not ranked:
            return False
        pair = ranked[0][1]
        new = 256 + len(self.merges)
        stack, fresh = [], False
        for x in self.data:
            if stack and not fresh and (stack[-1], x) == pair:
                stack[-1] = new
                fresh = True
            else:
                stack.append(x)
                fresh = False
        self.data = stack
        self.merges.append(pair)
        return True

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges} is negative")
    bpe = BPE([*text.encode()])
    while len(bpe.merges) < n_merges and bpe.step():
        pass
    return bpe.merges

# %% right: torch_unique
import torch

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be non-negative, not {n_merges}")
    ids = torch.tensor(list(text.encode("utf-8")), dtype=torch.int64)
    merges = []
    base = 256 + n_merges
    for m in range(n_merges):
        if len(ids) < 2:
            break
        codes, counts = torch.unique(ids[:-1] * base + ids[1:], return_counts=True)
        if counts.max() < 2:
            break
        code = int(codes[counts == counts.max()].min())
        a, b = divmod(code, base)
        merges.append((a, b))
        values = ids.tolist()
        out = []
        i = 0
        while i < len(values):
            if values[i:i + 2] == [a, b]:
                out.append(256 + m)
                i += 2
            else:
                out.append(values[i])
                i += 1
        ids = torch.tensor(out, dtype=torch.int64)
    return merges

# %% right: recursive
from collections import Counter

def _join(ids, pair, new):
    it = iter(ids)
    held = next(it, None)
    while held is not None:
        following = next(it, None)
        if (held, following) == pair:
            yield new
            held = next(it, None)
        else:
            yield held
            held = following

def _train(ids, first_new, left):
    if left == 0:
        return []
    counts = Counter(zip(ids, ids[1:]))
    if not counts:
        return []
    n, a, b = max((n, -a, -b) for (a, b), n in counts.items())
    if n == 1:
        return []
    pair = (-a, -b)
    return [pair] + _train(list(_join(ids, pair, first_new)), first_new + 1, left - 1)

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges: {n_merges} is less than 0")
    merges, ids, chunk = [], list(text.encode("utf-8")), 200
    while len(merges) < n_merges:      # in chunks, for the recursion limit
        more = _train(ids, 256 + len(merges), min(chunk, n_merges - len(merges)))
        if not more:
            break
        for pair in more:
            ids = list(_join(ids, pair, 256 + len(merges)))
            merges.append(pair)
    return merges
