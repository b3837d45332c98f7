# %% wrong: per_piece | Decodes each piece alone, so that characters split over tokens become replacement marks.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = ""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i].decode("utf-8", errors="replace")
    return out

# %% wrong: strict | Decodes strictly, and so raises for bytes that are not UTF-8.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8")

# %% wrong: ignore | Drops bytes that are not UTF-8 instead of replacing them.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="ignore")

# %% wrong: negative | Lets negative ids index from the end.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if i >= len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: index_error | Lets an id that does not exist raise IndexError.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: off_by_one | Allows one id more than exists, so that it raises IndexError and not ValueError.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i <= len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: swapped | Joins the two pieces of a merge in the wrong order.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[b] + pieces[a])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: skips_unknown | Skips ids that do not exist.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            continue
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: chr | Takes each byte as a character.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return "".join(map(chr, out))

# %% wrong: one_level | Undoes a merge once only, and turns what is left into a replacement mark.
def decode(ids, merges):
    data = bytearray()
    for i in map(int, ids):
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids: {i}")
        parts = [i] if i < 256 else list(merges[i - 256])
        for x in parts:
            data.append(x if x < 256 else 0xFF)
    return data.decode("utf-8", "replace")

# %% wrong: returns_bytes | Returns bytes instead of a string.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out

# %% wrong: spaces | Puts spaces between the pieces.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += (b" " if out else b"") + pieces[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: list_only | Looks up tensor elements in a dict without making them ints, so that tensors fail.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    table = dict(enumerate(pieces))
    out = b""
    for i in ids:
        if i not in table:
            raise ValueError(f"ids has {i}")
        out += table[i]
    return out.decode("utf-8", errors="replace")

# %% wrong: strips | Strips white space from the result.
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="replace").strip()

# %% wrong: pops_ids | Empties the caller's list of ids as a stack.
def decode(ids, merges):
    todo = ids if isinstance(ids, list) else ids.tolist()
    back = []
    while todo:
        i = todo.pop()
        if i >= 256 + len(merges) or i < 0:
            raise ValueError(f"ids: {i}")
        if i < 256:
            back.append(i)
        else:
            todo.extend(merges[i - 256])
    return bytes(reversed(back)).decode("utf-8", "replace")

# %% right: pieces
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    out = b""
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}")
        out += pieces[i]
    return out.decode("utf-8", errors="replace")

# %% right: recursion
def decode(ids, merges):
    def spell(i):
        if i < 256:
            return bytes([i])
        a, b = merges[i - 256]
        return spell(a) + spell(b)
    ids = [int(i) for i in ids]
    for i in ids:
        if i < 0 or i > 255 + len(merges):
            raise ValueError(f"ids contains {i}")
    return b"".join(map(spell, ids)).decode(errors="replace")

# %% right: stack
def decode(ids, merges):
    todo = [int(i) for i in ids][::-1]
    data = bytearray()
    while todo:
        i = todo.pop()
        if i not in range(256 + len(merges)):
            raise ValueError(f"ids: {i} does not exist")
        if i < 256:
            data.append(i)
        else:
            todo += merges[i - 256][::-1]
    return str(data, "utf-8", "replace")

# %% right: unmerge
def decode(ids, merges):
    ids = ids.tolist() if torch.is_tensor(ids) else list(ids)
    if ids and (min(ids) < 0 or max(ids) >= 256 + len(merges)):
        raise ValueError(f"ids: {ids}")
    for m in reversed(range(len(merges))):
        ids = [x for i in ids for x in (merges[m] if i == 256 + m else (i,))]
    return bytes(ids).decode("utf-8", "replace")

# %% right: dict
def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for m, (a, b) in enumerate(merges, 256):
        vocab[m] = vocab[a] + vocab[b]
    try:
        return b"".join(vocab[int(i)] for i in ids).decode("utf-8", "replace")
    except KeyError as e:
        raise ValueError(f"ids: {e}") from None

