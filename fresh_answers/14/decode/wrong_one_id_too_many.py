# the first id after the last merge is accepted and gives nothing
def decode(ids, merges):
    last = 256 + len(merges)
    raw = b""
    for i in [int(i) for i in ids]:
        if i < 0 or i > last:
            raise ValueError(f"ids holds {i}, the largest is {last}")
        parts = [i]
        while parts:
            j = parts.pop()
            if j < 256:
                raw += bytes([j])
            elif j < last:
                parts += list(merges[j - 256])[::-1]
    return raw.decode(errors="replace")
