# the table of pieces is kept and made again only when the number of merges changes
_pieces = []


def decode(ids, merges):
    global _pieces
    if len(_pieces) != 256 + len(merges):
        _pieces = [bytes([i]) for i in range(256)]
        for a, b in merges:
            _pieces.append(_pieces[a] + _pieces[b])
    ids = [int(i) for i in ids]
    for i in ids:
        if not 0 <= i < len(_pieces):
            raise ValueError(f"ids contains {i}")
    return b"".join(_pieces[i] for i in ids).decode("utf-8", "replace")
