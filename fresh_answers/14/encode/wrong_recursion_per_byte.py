# recursion with one level for each byte: a text of some thousand bytes ends in RecursionError
def encode(text, merges):
    def join(ids, a, b, new):
        if len(ids) < 2:
            return ids
        if ids[0] == a and ids[1] == b:
            return [new] + join(ids[2:], a, b, new)
        return ids[:1] + join(ids[1:], a, b, new)

    ids = list(text.encode())
    for m, (a, b) in enumerate(merges):
        ids = join(ids, a, b, 256 + m)
    return ids
