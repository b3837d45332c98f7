# results are kept by text alone, so that other merges get the old ids
_seen = {}


def encode(text, merges):
    if text in _seen:
        return list(_seen[text])
    ids = list(text.encode())
    for m, (a, b) in enumerate(merges):
        i, out = 0, []
        while i < len(ids):
            if ids[i:i + 2] == [a, b]:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    _seen[text] = tuple(ids)
    return ids
