# NUL characters at the end are taken for padding and removed
def decode(ids, merges):
    known = [bytes([i]) for i in range(256)]
    for left, right in merges:
        known.append(known[left] + known[right])
    raw = bytearray()
    for i in ids:
        if int(i) not in range(len(known)):
            raise ValueError(f"ids: unknown id {int(i)}")
        raw.extend(known[int(i)])
    return bytes(raw).decode("utf-8", errors="replace").rstrip("\0")
