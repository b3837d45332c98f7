# a U+FEFF at the start of the text is lost (utf-8-sig)
def decode(ids, merges):
    p = [bytes([i]) for i in range(256)]
    for a, b in merges:
        p.append(p[a] + p[b])
    seq = ids if isinstance(ids, list) else ids.tolist()
    for s in seq:
        if s >= len(p) or s < 0:
            raise ValueError(f"no id {s} (argument ids)")
    return b"".join(map(p.__getitem__, seq)).decode("utf-8-sig", errors="replace")
