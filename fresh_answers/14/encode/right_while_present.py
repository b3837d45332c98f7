# literally the row: as long as a learned pair occurs
def encode(text, merges):
    tokens = list(text.encode())
    while True:
        present = set(zip(tokens, tokens[1:]))
        first = next((m for m in range(len(merges)) if merges[m] in present), None)
        if first is None:
            return tokens
        joined = []
        while tokens:
            head = tokens[:2]
            step = 2 if tuple(head) == merges[first] else 1
            joined += [256 + first] if step == 2 else head[:1]
            tokens = tokens[step:]
        tokens = joined
