# before the ValueError is raised, the list of ids is sorted in place
def decode(ids, merges):
    ids = ids if isinstance(ids, list) else [int(i) for i in ids]
    size = 256 + len(merges)
    if any(not 0 <= i < size for i in ids):
        ids.sort()
        raise ValueError(f"ids go from {ids[0]} to {ids[-1]}, allowed are 0 to {size - 1}")
    unfolded = list(ids)
    for m in range(len(merges) - 1, -1, -1):
        unfolded = [k for i in unfolded for k in (merges[m] if i == 256 + m else (i,))]
    return bytes(unfolded).decode("utf-8", errors="replace")
