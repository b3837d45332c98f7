# joins from right to left, so that of aaa the last two are joined
def encode(text, merges):
    ids = list(text.encode("utf8"))
    for m, pair in enumerate(merges):
        i = len(ids) - 1
        while i > 0:
            if (ids[i - 1], ids[i]) == pair:
                ids[i - 1:i + 1] = [256 + m]
                i -= 2
            else:
                i -= 1
    return ids
