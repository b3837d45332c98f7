# read as a text file, so that \r\n becomes \n
import io


def decode(ids, merges):
    buffer = io.BytesIO()
    table = [bytes([i]) for i in range(256)]
    for a, b in merges:
        table.append(table[a] + table[b])
    for i in ids:
        i = int(i)
        if i < 0 or i >= len(table):
            raise ValueError(f"ids must be below {len(table)}, found {i}")
        buffer.write(table[i])
    buffer.seek(0)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="replace").read()
