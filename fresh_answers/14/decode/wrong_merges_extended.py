# the 256 bytes are put in front of the list of merges that was given
def decode(ids, merges):
    merges[:0] = range(256)
    seq = [int(i) for i in ids]
    for i in seq:
        if i < 0 or i >= len(merges):
            raise ValueError(f"ids has the value {i}, too large or negative")
    data = []
    while seq:
        i = seq.pop()
        if i < 256:
            data.append(i)
        else:
            seq += merges[i]
    return bytes(data[::-1]).decode("utf-8", "replace")
