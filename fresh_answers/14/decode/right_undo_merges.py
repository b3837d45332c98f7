# the merges are undone from the last one to the first, in a str of characters
def decode(ids, merges):
    plain = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    for value in plain:
        if value not in range(256 + len(merges)):
            raise ValueError("no such token: " + str(value) + " (in ids)")
    s = "".join(map(chr, plain))
    for m in reversed(range(len(merges))):
        s = s.replace(chr(256 + m), chr(merges[m][0]) + chr(merges[m][1]))
    return s.encode("latin-1").decode("utf-8", "replace")
