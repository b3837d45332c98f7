# %% wrong: ties_first_seen | Of equally frequent pairs takes the one that was seen first instead of the smallest.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=counts.get)
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: ties_largest | Of equally frequent pairs takes the largest.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = max(counts, key=lambda q: (counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: code_points | Starts from the Unicode code points of the characters instead of the UTF-8 bytes.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = [ord(c) for c in text]
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: merges_singles | Goes on merging pairs that occur only once.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: from_one | Gives the first merge the id 257 instead of 256.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(257 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: counts_once | Counts the pairs of the bytes once and takes the most frequent ones, without joining in between.
from collections import Counter
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError("n_merges = %d" % n_merges)
    b = text.encode()
    c = Counter(zip(b, b[1:]))
    ranked = sorted((q for q in c if c[q] > 1), key=lambda q: (-c[q], q))
    return ranked[:n_merges]

# %% wrong: non_overlapping | Counts only occurrences that do not overlap, so that aaa has the pair a a once.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        last = {}
        for k, pair in enumerate(zip(ids, ids[1:])):
            if last.get(pair, -2) == k - 1:
                continue
            last[pair] = k
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: joins_first_only | Joins only the first occurrence of the pair.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best and len(out) == i:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: words | Splits the text at spaces first, so that no pair crosses a word, as GPT-2's tokenizer does.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges: {n_merges}")
    words = [list(w.encode()) for w in text.split(" ")]
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for w in words:
            for a, b in zip(w, w[1:]):
                counts[a, b] = counts.get((a, b), 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        top = max(counts.values())
        best = min(q for q in counts if counts[q] == top)
        new = 256 + len(merges)
        for w in words:
            i = 0
            while i < len(w) - 1:
                if (w[i], w[i + 1]) == best:
                    w[i:i + 2] = [new]
                i += 1
        merges.append(best)
    return merges

# %% wrong: drops_last | Loses the last id when it is not part of a joined pair.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids) - 1:
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: dict | Returns a dict from pairs to ids, as library tokenizers keep them.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return {pair: 256 + m for m, pair in enumerate(merges)}

# %% wrong: bytes_pairs | Returns the pairs as bytes pieces instead of ids.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return [(pieces[a], pieces[b]) for a, b in merges]

# %% wrong: vocab_size | Takes n_merges for the size of the vocabulary and subtracts 256.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(max(0, n_merges - 256)):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: negative_is_empty | Returns an empty list for a negative n_merges instead of raising ValueError.
def train_bpe(text, n_merges):
    if n_merges < 0:
        return []
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% wrong: from_right | Joins from right to left.
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], len(ids) - 1
        while i >= 0:
            if i > 0 and (ids[i - 1], ids[i]) == best:
                out.insert(0, 256 + len(merges))
                i -= 2
            else:
                out.insert(0, ids[i])
                i -= 1
        ids = out
        merges.append(best)
    return merges

# %% right: plain
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids = list(text.encode("utf-8"))
    merges = []
    for step in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda q: (-counts[q], q))
        if counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges

# %% right: counter
from collections import Counter
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges}")
    seq, merges = [*text.encode()], []
    for new in range(256, 256 + n_merges):
        c = Counter(zip(seq, seq[1:]))
        best, n = min(c.items(), key=lambda t: (-t[1], t[0]), default=(None, 0))
        if n < 2:
            break
        merges.append(best)
        i = 0
        while i + 1 < len(seq):
            if (seq[i], seq[i + 1]) == best:
                seq[i:i + 2] = [new]
            i += 1
    return merges

# %% right: as_string
from collections import Counter
def train_bpe(text, n_merges):
    """Ids as private characters, so that str.replace joins from left to right."""
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges}")
    up = lambda i: chr(i if i < 0xD000 else i + 0x2000)
    down = lambda ch: ord(ch) if ord(ch) < 0xD000 else ord(ch) - 0x2000
    s = "".join(map(up, text.encode()))
    merges = []
    for m in range(n_merges):
        c = Counter(map("".join, zip(s, s[1:])))
        if not c or max(c.values()) < 2:
            break
        most = max(c.values())
        best = min(q for q in c if c[q] == most)
        merges.append((down(best[0]), down(best[1])))
        s = s.replace(best, up(256 + m))
    return merges

# %% right: recursive
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges}")
    def join(seq, pair, new):
        it = iter(seq)
        out, held = [], None
        for x in it:
            if held is not None and (held, x) == pair:
                out.append(new)
                held = None
            else:
                if held is not None:
                    out.append(held)
                held = x
        return out + ([] if held is None else [held])
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        pairs = list(zip(ids, ids[1:]))
        ranked = sorted(set(pairs), key=lambda q: (-pairs.count(q), q))
        if not ranked or pairs.count(ranked[0]) < 2:
            return merges
        ids = join(ids, ranked[0], 256 + len(merges))
        merges.append(ranked[0])
    return merges

# %% right: class
class _Bpe:
    def __init__(self, text):
        self.ids, self.merges = list(text.encode("utf8")), []
    def step(self):
        c = {}
        for q in zip(self.ids[:-1], self.ids[1:]):
            c[q] = c.get(q, 0) + 1
        ok = sorted((-n, q) for q, n in c.items() if n >= 2)
        if not ok:
            return False
        a, b = ok[0][1]
        new, out = 256 + len(self.merges), []
        skip = False
        for k, x in enumerate(self.ids):
            if skip:
                skip = False
            elif x == a and k + 1 < len(self.ids) and self.ids[k + 1] == b:
                out.append(new)
                skip = True
            else:
                out.append(x)
        self.ids = out
        self.merges.append((a, b))
        return True

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges}")
    t = _Bpe(text)
    while len(t.merges) < n_merges and t.step():
        pass
    return t.merges

