# a negative id counts from the end of the table and is not refused
def decode(ids, merges):
    table = [bytes([i]) for i in range(256)]
    for a, b in merges:
        table.append(table[a] + table[b])
    raw = bytearray()
    for i in ids:
        try:
            raw += table[int(i)]
        except IndexError:
            raise ValueError(f"ids: there is no {int(i)}") from None
    return raw.decode("utf-8", "replace")
