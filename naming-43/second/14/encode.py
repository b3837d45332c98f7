# %% wrong: latest_first | Joins the pair that was learned last before those learned earlier.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = max(zip(ids, ids[1:]), key=lambda q: rank.get(q, -1))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: rank_as_id | Writes the number of the merge instead of 256 plus it.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [m]
            i += 1
    return ids

# %% wrong: leftmost_pair | Joins whichever learned pair stands furthest left instead of the one learned first.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = next((q for q in zip(ids, ids[1:]) if q in rank), None)
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: greedy_longest | Takes the longest known piece at each place instead of replaying the merges.
def encode(text, merges):
    vocab = {bytes([b]): b for b in range(256)}
    piece = [bytes([b]) for b in range(256)]
    for a, b in merges:
        piece.append(piece[a] + piece[b])
        vocab.setdefault(piece[-1], len(piece) - 1)
    data, i, ids = text.encode(), 0, []
    longest = max(map(len, vocab))
    while i < len(data):
        for n in range(longest, 0, -1):
            if data[i:i + n] in vocab and i + n <= len(data):
                ids.append(vocab[data[i:i + n]])
                i += n
                break
    return ids

# %% wrong: one_occurrence | Joins each learned pair once only, at its first place.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        for i in range(len(ids) - 1):
            if ids[i] == a and ids[i + 1] == b:
                ids = ids[:i] + [256 + m] + ids[i + 2:]
                break
    return ids

# %% wrong: code_points | Starts from the characters' code points instead of their UTF-8 bytes.
def encode(text, merges):
    ids = [ord(ch) for ch in text]
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return ids

# %% wrong: latin1 | Encodes as Latin-1 instead of UTF-8.
def encode(text, merges):
    ids = list(text.encode("latin-1", errors="replace"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda q: rank.get(q, float("inf")))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: tensor | Returns a tensor instead of a list of ints.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return torch.tensor(ids, dtype=torch.long)

# %% wrong: drops_last | Loses the last id when it is not joined.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda q: rank.get(q, float("inf")))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids) - 1:
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: retrain | Joins the most frequent learned pair in this text instead of the one learned first.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = max([q for q in zip(ids, ids[1:]) if q in rank] or [None], key=list(zip(ids, ids[1:])).count)
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: from_right | Joins from right to left.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = len(ids) - 2
        while i >= 0:
            if ids[i:i + 2] == [a, b]:
                ids[i:i + 2] = [256 + m]
                i -= 1
            i -= 1
    return ids

# %% wrong: single_step | Stops after the first learned pair that it finds.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda q: rank.get(q, float("inf")))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        break
    return ids

# %% wrong: pieces | Returns the pieces as bytes instead of their ids.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    piece = [bytes([b]) for b in range(256)]
    for a, b in merges:
        piece.append(piece[a] + piece[b])
    return [piece[i] for i in ids]

# %% wrong: pops_merges | Uses up the caller's list of merges with pop.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    m = -1
    while merges:
        a, b = merges.pop(0)
        m += 1
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return ids

# %% wrong: strips | Strips white space from the text first.
def encode(text, merges):
    ids = list(text.strip().encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return ids

# %% right: rank
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    rank = {tuple(q): m for m, q in enumerate(merges)}
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda q: rank.get(q, float("inf")))
        if pair not in rank:
            break
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + rank[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% right: replay
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return ids

# %% right: string_replace
def encode(text, merges):
    up = lambda i: chr(i if i < 0xD000 else i + 0x2000)
    s = "".join(map(up, text.encode()))
    for m, (a, b) in enumerate(merges):
        s = s.replace(up(a) + up(b), up(256 + m))
    return [ord(c) if ord(c) < 0xD000 else ord(c) - 0x2000 for c in s]

# %% right: leftmost_of_best
def encode(text, merges):
    rank = {q: m for m, q in reversed(list(enumerate(map(tuple, merges))))}
    ids = list(text.encode())
    while True:
        found = [(rank[q], i) for i, q in enumerate(zip(ids, ids[1:])) if q in rank]
        if not found:
            return ids
        m, i = min(found)
        ids[i:i + 2] = [256 + m]

# %% right: reduce
from functools import reduce
def encode(text, merges):
    def join(ids, step):
        m, (a, b) = step
        out = []
        fresh = False
        for x in ids:
            if out and not fresh and out[-1] == a and x == b:
                out[-1] = 256 + m
                fresh = True
            else:
                out.append(x)
                fresh = False
        return out
    return reduce(join, enumerate(merges), list(text.encode()))

