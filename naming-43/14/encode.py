# %% wrong: longest_piece | Takes the longest known piece at each place (greedy longest match, as WordPiece does) instead of joining pairs in the order in which they were learned.
def encode(text, merges):
    pieces = [bytes([i]) for i in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    lookup = {}
    for i, piece in enumerate(pieces):
        lookup.setdefault(piece, i)
    longest = max(len(p) for p in pieces)
    data = text.encode("utf-8")
    out, at = [], 0
    while at < len(data):
        for size in range(min(longest, len(data) - at), 0, -1):
            if data[at:at + size] in lookup:
                out.append(lookup[data[at:at + size]])
                at += size
                break
    return out

# %% wrong: code_points | Starts from the code points of the characters, not from the UTF-8 bytes.
def encode(text, merges):
    ids = [ord(ch) for ch in text]
    for m, (a, b) in enumerate(merges):
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: latest_first | Joins the pair that was learned last, of those that occur, instead of the one that was learned first.
def encode(text, merges):
    rank = {tuple(pair): m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while True:
        found = [rank[p] for p in zip(ids, ids[1:]) if p in rank]
        if not found:
            return ids
        m = max(found)
        a, b = merges[m]
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out

# %% wrong: most_frequent_first | Joins the learned pair that is most frequent in this text, as in training, instead of the one that was learned first.
from collections import Counter

def encode(text, merges):
    rank = {tuple(p): k for k, p in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while len(ids) >= 2:
        counts = Counter(p for p in zip(ids, ids[1:]) if p in rank)
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], rank[p]))
        new = 256 + rank[best]
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: joins_once | Joins only the first occurrence of each learned pair and then turns to the next pair.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        pairs = list(zip(ids, ids[1:]))
        if tuple(pair) in pairs:
            at = pairs.index(tuple(pair))
            ids[at:at + 2] = [256 + m]
    return ids

# %% wrong: one_pass_stack | Reads the bytes once and joins any learned pair as soon as it sees it, whatever its place in the list of merges.
def encode(text, merges):
    new_id = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    stack = []
    for byte in text.encode("utf-8"):
        stack.append(byte)
        while len(stack) > 1 and (stack[-2], stack[-1]) in new_id:
            right = stack.pop()
            left = stack.pop()
            stack.append(new_id[left, right])
    return stack

# %% wrong: join_overlaps | Uses the second id of a joined pair again for the next pair, so that three equal ids become two joined ones.
def _join(ids, pair, new):
    hit = [p == pair for p in zip(ids, ids[1:])] + [False]
    result = []
    for i, x in enumerate(ids):
        if hit[i]:
            result.append(new)
        elif i == 0 or not hit[i - 1]:
            result.append(x)
    return result

def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        ids = _join(ids, tuple(pair), 256 + m)
    return ids

# %% wrong: ids_from_257 | Numbers the merges from 1, so merge m gets the id 257 + m.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for new, (a, b) in enumerate(merges, start=257):
        i, out = 0, []
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: returns_tensor | Returns a tensor of ids instead of a list of ints.
import torch

def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [256 + m]
            i += 1
    return torch.tensor(ids, dtype=torch.long)

# %% wrong: returns_pieces | Returns the pieces as bytes and not their ids.
def encode(text, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        out, i = [], 0
        while i < len(ids):
            if ids[i:i + 2] == [a, b]:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return [vocab[i] for i in ids]

# %% wrong: join_from_the_right | Joins from right to left, which leaves another id over in a run of equal ids.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = len(ids) - 1
        while i > 0:
            if ids[i - 1] == a and ids[i] == b:
                ids[i - 1:i + 1] = [256 + m]
                i -= 1
            i -= 1
    return ids

# %% wrong: word_by_word | Cuts the text at whitespace with split() and encodes word by word, so the spaces disappear.
def encode_word(word, merges):
    ids = list(word.encode("utf-8"))
    for m, (a, b) in enumerate(merges):
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == (a, b):
                ids[i:i + 2] = [256 + m]
            i += 1
    return ids

def encode(text, merges):
    ids = []
    for word in text.split():
        ids.extend(encode_word(word, merges))
    return ids

# %% wrong: stops_at_missing_pair | Stops at the first merge whose pair does not occur in the text, though later merges may still apply.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        if tuple(pair) not in set(zip(ids, ids[1:])):
            break
        out = []
        i = 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == tuple(pair):
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% wrong: empties_merges | Takes the pairs out of the caller's list with pop(0), which leaves merges empty after the first call.
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    new = 256
    while merges:
        a, b = merges.pop(0)
        out, i = [], 0
        while i < len(ids):
            if i + 1 < len(ids) and ids[i] == a and ids[i + 1] == b:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        new += 1
    return ids

# %% wrong: learns_again | Learns merges anew from the text to be encoded instead of using the merges that were given.
from collections import Counter

def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m in range(len(merges)):
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        pair = min(counts, key=lambda p: (-counts[p], p))
        if counts[pair] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids

# %% right: lowest_rank
def encode(text, merges):
    rank = {tuple(pair): m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while len(ids) > 1:
        pair = min(zip(ids, ids[1:]), key=lambda p: rank.get(p, float("inf")))
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

# %% right: in_order
def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for new, (a, b) in enumerate(merges, start=256):
        i = 0
        while i < len(ids) - 1:
            if ids[i] == a and ids[i + 1] == b:
                ids[i:i + 2] = [new]
            i += 1
    return ids

# %% right: string_replace
def encode(text, merges):
    s = text.encode("utf-8").decode("latin-1")
    for m, (a, b) in enumerate(merges):
        s = s.replace(chr(a) + chr(b), chr(256 + m))
    return [ord(c) for c in s]

# %% right: recursive_rank
def _join(ids, pair, new):
    if len(ids) < 2:
        return list(ids)
    out, held = [], None
    for x in ids:
        if held is not None and (held, x) == pair:
            out.append(new)
            held = None
        else:
            if held is not None:
                out.append(held)
            held = x
    return out + ([held] if held is not None else [])

def encode(text, merges):
    learned = [tuple(p) for p in merges]

    def go(ids, at):
        present = set(zip(ids, ids[1:]))
        at = next((m for m in range(at, len(learned)) if learned[m] in present), None)
        return (ids, None) if at is None else (_join(ids, learned[at], 256 + at), at)

    ids, at = go(list(bytes(text, "utf-8")), 0)
    while at is not None:
        ids, at = go(ids, at)
    return ids

# %% right: linked_list_heap
import heapq

def encode(text, merges):
    rank = {tuple(p): m for m, p in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    n = len(ids)
    nxt = list(range(1, n + 1))
    prv = list(range(-1, n - 1))
    alive = [True] * n
    heap = [(rank[p], i) for i, p in enumerate(zip(ids, ids[1:])) if p in rank]
    heapq.heapify(heap)
    while heap:
        r, i = heapq.heappop(heap)
        j = nxt[i] if alive[i] else n
        if j >= n or (ids[i], ids[j]) != tuple(merges[r]):
            continue
        ids[i] = 256 + r
        alive[j] = False
        nxt[i] = nxt[j]
        if nxt[j] < n:
            prv[nxt[j]] = i
        for left in (prv[i], i):
            if left >= 0 and nxt[left] < n:
                p = ids[left], ids[nxt[left]]
                if p in rank:
                    heapq.heappush(heap, (rank[p], left))
    return [x for x, keep in zip(ids, alive) if keep]
