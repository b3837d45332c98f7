# a table of pieces, filled once
def decode(ids, merges):
    pieces = [bytes((b,)) for b in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    chosen = []
    for i in ids:
        i = int(i)
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}, but there are only {len(pieces)} ids")
        chosen.append(pieces[i])
    return b"".join(chosen).decode("utf-8", errors="replace")
