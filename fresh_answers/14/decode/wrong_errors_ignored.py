# bytes that are not UTF-8 are left out
def decode(ids, merges):
    p = [bytes([i]) for i in range(256)]
    for a, b in merges:
        p += [p[a] + p[b]]
    numbers = [int(i) for i in ids]
    for n in numbers:
        if n < 0 or n >= len(p):
            raise ValueError(f"{n} in ids is no id")
    return b"".join(p[n] for n in numbers).decode(errors="ignore")
