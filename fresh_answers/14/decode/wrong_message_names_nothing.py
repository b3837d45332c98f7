# the message of the ValueError names no argument
def decode(ids, merges):
    table = [bytes([i]) for i in range(256)]
    for a, b in merges:
        table.append(table[a] + table[b])
    out = []
    for token in ids:
        token = int(token)
        if token < 0 or token >= len(table):
            raise ValueError(f"unknown token {token}")
        out.append(table[token])
    return b"".join(out).decode("utf-8", errors="replace")
