# no ids at all raise an error, and do not give the empty text
def decode(ids, merges):
    numbers = list(map(int, ids))
    if min(numbers) < 0 or max(numbers) >= 256 + len(merges):
        raise ValueError(f"ids: {numbers}")
    chars = "".join(map(chr, numbers))
    for m, (a, b) in reversed(list(enumerate(merges))):
        chars = chars.replace(chr(256 + m), chr(a) + chr(b))
    return chars.encode("latin-1").decode(errors="replace")
