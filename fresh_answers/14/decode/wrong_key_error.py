# an id that does not exist is a KeyError
def decode(ids, merges):
    vocab = dict(enumerate(bytes([i]) for i in range(256)))
    for pair in merges:
        vocab[len(vocab)] = b"".join(vocab[i] for i in pair)
    return b"".join(vocab[int(i)] for i in ids).decode("utf-8", errors="replace")
