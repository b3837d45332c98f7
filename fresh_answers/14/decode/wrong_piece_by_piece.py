# each piece is decoded alone, so a character whose bytes are in two pieces is lost
def decode(ids, merges):
    vocab = {i: bytes([i]) for i in range(256)}
    for m, (a, b) in enumerate(merges):
        vocab[256 + m] = vocab[a] + vocab[b]
    text = ""
    for i in ids:
        if int(i) not in vocab:
            raise ValueError(f"ids contains {int(i)}, which does not exist")
        text += vocab[int(i)].decode("utf-8", errors="replace")
    return text
