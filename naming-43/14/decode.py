# %% wrong: piece_by_piece | Decodes each piece to text on its own, which breaks characters whose bytes lie in several tokens.
def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    text = ""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(vocab):
            raise ValueError(f"ids has {i}, which does not exist")
        text += vocab[i].decode("utf-8", errors="replace")
    return text

# %% wrong: errors_ignored | Drops bytes that are not UTF-8 (errors="ignore") instead of showing them as the replacement character.
def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for m, (a, b) in enumerate(merges):
        vocab[256 + m] = vocab[a] + vocab[b]
    ids = [int(i) for i in ids]
    for i in ids:
        if i not in vocab:
            raise ValueError(f"ids: there is no id {i}")
    return b"".join(vocab[i] for i in ids).decode("utf-8", errors="ignore")

# %% wrong: strict_errors | Lets decode raise UnicodeDecodeError for bytes that are not UTF-8.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for left, right in merges:
        pieces += [pieces[left] + pieces[right]]
    data = bytearray()
    for token in ids:
        token = int(token)
        if token < 0 or token >= len(pieces):
            raise ValueError(f"unknown token {token} in ids")
        data += pieces[token]
    return data.decode("utf-8")

# %% wrong: byte_is_character | Turns every byte into a character of its own with chr, as if the text were Latin-1.
def decode(ids, merges):
    def expand(i):
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids contains {i}, but there are only {256 + len(merges)} ids")
        if i < 256:
            return [i]
        a, b = merges[i - 256]
        return expand(a) + expand(b)
    return "".join(chr(byte) for i in ids for byte in expand(int(i)))

# %% wrong: negative_ids_count_from_the_end | Checks only the upper bound, so a negative id silently picks a piece from the end of the list.
class Vocabulary:
    def __init__(self, merges):
        self.pieces = [bytes((b,)) for b in range(256)]
        for a, b in merges:
            self.pieces.append(self.pieces[a] + self.pieces[b])

    def __getitem__(self, i):
        if i >= len(self.pieces):
            raise ValueError(f"ids: {i} does not exist")
        return self.pieces[i]

def decode(ids, merges):
    v = Vocabulary(merges)
    return b"".join([v[int(i)] for i in ids]).decode("utf-8", "replace")

# %% wrong: key_error | Raises KeyError, not ValueError, for an id that does not exist, because it just looks it up.
def decode(ids, merges):
    vocab = {idx: bytes([idx]) for idx in range(256)}
    for m, (p0, p1) in enumerate(merges):
        vocab[256 + m] = vocab[p0] + vocab[p1]
    tokens = b"".join(vocab[int(idx)] for idx in ids)
    return tokens.decode("utf-8", errors="replace")

# %% wrong: unknown_to_replacement | Shows an id that does not exist as the replacement character instead of raising ValueError.
def decode(ids, merges):
    vocab = {idx: bytes([idx]) for idx in range(256)}
    for idx, (p0, p1) in enumerate(merges, 256):
        vocab[idx] = vocab[p0] + vocab[p1]
    unk = "\ufffd".encode("utf-8")
    return b"".join(vocab.get(int(idx), unk) for idx in ids).decode("utf-8", errors="replace")

# %% wrong: tensor_entries_as_keys | Looks up the entries of a tensor of ids as they are, without turning them into ints, so no id of a tensor is found.
def decode(ids, merges):
    table = {i: bytes([i]) for i in range(256)}
    for m, (a, b) in enumerate(merges):
        table[256 + m] = table[a] + table[b]
    parts = []
    for i in ids:
        if i not in table:
            raise ValueError(f"ids: {i} is not an id")
        parts.append(table[i])
    return b"".join(parts).decode("utf-8", errors="replace")

# %% wrong: merge_off_by_one | Looks up merge id - 257 instead of id - 256, so every joined token shows the piece of the merge before it.
def decode(ids, merges):
    pieces = {b: bytes([b]) for b in range(256)}
    for m, (a, b) in enumerate(merges):
        pieces[256 + m] = pieces[a] + pieces[b]
    out = b""
    for i in ids:
        i = int(i)
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids must be below {256 + len(merges)}, got {i}")
        if i < 256:
            out += pieces[i]
        else:
            a, b = merges[i - 257]
            out += pieces[a] + pieces[b]
    return out.decode("utf-8", errors="replace")

# %% wrong: one_level_only | Undoes only one merge for each id and takes the two halves for bytes, though they may be joined tokens themselves.
def decode(ids, merges):
    data = []
    for i in ids:
        i = int(i)
        if not 0 <= i < 256 + len(merges):
            raise ValueError(f"ids: {i} does not exist")
        if i < 256:
            data.append(i)
        else:
            data.extend(merges[i - 256])
    return bytes(min(b, 255) for b in data).decode("utf-8", errors="replace")

# %% wrong: returns_bytes | Returns the bytes and forgets to decode them to a str.
def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    ids = [int(i) for i in ids]
    if any(i < 0 or i >= len(vocab) for i in ids):
        raise ValueError(f"ids has an id outside 0 to {len(vocab) - 1}: {ids}")
    return b"".join(vocab[i] for i in ids)

# %% wrong: halves_swapped | Puts the right half of a merge before the left one.
def decode(ids, merges):
    stack = [int(i) for i in ids]
    for i in stack:
        if not 0 <= i < 256 + len(merges):
            raise ValueError(f"no such id in ids: {i}")
    stack = stack[::-1]
    out = bytearray()
    while stack:
        top = stack.pop()
        if top < 256:
            out.append(top)
        else:
            left, right = merges[top - 256]
            stack.append(left)       # last in, first out
            stack.append(right)
    return out.decode("utf-8", errors="replace")

# %% wrong: strips_text | Strips white space from both ends of the decoded text, so the text does not come back as it was.
def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for m, (a, b) in enumerate(merges):
        vocab[256 + m] = vocab[a] + vocab[b]
    out = []
    for i in map(int, ids):
        try:
            out.append(vocab[i])
        except KeyError:
            raise ValueError(f"ids: {i} is unknown") from None
    return b"".join(out).decode("utf-8", errors="replace").strip()

# %% wrong: changes_ids | Expands the merges in the caller's own list of ids, which is changed afterwards.
def decode(ids, merges):
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    top = 256 + len(merges)
    if any(not 0 <= i < top for i in ids):
        raise ValueError(f"ids must be from 0 to {top - 1}, got {ids}")
    i = 0
    while i < len(ids):
        if ids[i] >= 256:
            ids[i:i + 1] = merges[ids[i] - 256]
        else:
            i += 1
    return bytes(ids).decode("utf-8", errors="replace")

# %% wrong: byte_order_mark | Decodes as utf-8-sig, which swallows a byte order mark at the beginning of the text.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    chosen = []
    for i in ids:
        i = int(i)
        if i not in range(len(pieces)):
            raise ValueError(f"ids: {i} not in range({len(pieces)})")
        chosen.append(pieces[i])
    return b"".join(chosen).decode("utf-8-sig", errors="replace")

# %% right: list_of_pieces
def decode(ids, merges):
    vocab = [bytes([b]) for b in range(256)]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(vocab):
            raise ValueError(f"ids has {i}, which does not exist")
        out += vocab[i]
    return out.decode("utf-8", errors="replace")

# %% right: recursive
def decode(ids, merges):
    n = 256 + len(merges)

    def expand(i):
        if i < 256:
            return bytes([i])
        return b"".join(expand(half) for half in merges[i - 256])

    ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    wrong = [i for i in ids if i < 0 or i >= n]
    if wrong:
        raise ValueError(f"ids must be from 0 to {n - 1}, got {wrong}")
    return str(b"".join(map(expand, ids)), "utf-8", "replace")

# %% right: stack
def decode(ids, merges):
    stack = [int(i) for i in ids]
    for i in stack:
        if not 0 <= i < 256 + len(merges):
            raise ValueError(f"no such id in ids: {i}")
    stack.reverse()
    out = bytearray()
    while stack:
        top = stack.pop()
        if top < 256:
            out.append(top)
        else:
            stack.extend(reversed(merges[top - 256]))
    return out.decode("utf-8", errors="replace")

# %% right: dict_and_try
class Pieces(dict):
    def __missing__(self, key):
        raise ValueError(f"ids: {key} is not an id")

def decode(ids, merges):
    pieces = Pieces((b, bytes((b,))) for b in range(256))
    for new, pair in enumerate(merges, start=256):
        pieces[new] = pieces[pair[0]] + pieces[pair[1]]
    return b"".join(pieces[int(i)] for i in ids).decode(errors="replace")

# %% right: undo_merges
import torch

def decode(ids, merges):
    ids = torch.as_tensor(ids, dtype=torch.int64)
    n = 256 + len(merges)
    if bool(((ids < 0) | (ids >= n)).any()):
        raise ValueError(f"ids must be in [0, {n}), got {ids.tolist()}")
    s = "".join(map(chr, ids.tolist()))
    for m in reversed(range(len(merges))):
        a, b = merges[m]
        s = s.replace(chr(256 + m), chr(a) + chr(b))
    return s.encode("latin-1").decode("utf-8", errors="replace")
