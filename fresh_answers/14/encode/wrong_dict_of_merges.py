# merges are put into a dict by their first id, so that of two with the same first id one is lost
def encode(text, merges):
    follows = dict(merges)
    number = {pair: 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    while True:
        found = [number[x, y] for x, y in zip(ids, ids[1:]) if follows.get(x, -1) == y]
        if not found:
            return ids
        new = min(found)
        out = []
        for x in ids:
            if out and number.get((out[-1], x)) == new:
                out[-1] = new
            else:
                out.append(x)
        ids = out
