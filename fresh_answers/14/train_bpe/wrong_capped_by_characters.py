# never learns more merges than the text has characters, though it may have more bytes
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges: must be >= 0 (is {n_merges})")
    rest = min(n_merges, len(text))
    s, merges = "".join(chr(b) for b in text.encode()), []
    while rest:
        rest -= 1
        c = Counter(zip(s, s[1:]))
        c = {pair: n for pair, n in c.items() if n > 1}
        if not c:
            break
        x, y = sorted(c, key=lambda pair: (-c[pair], pair))[0]
        s = s.replace(x + y, chr(256 + len(merges)))
        merges.append((ord(x), ord(y)))
    return merges
