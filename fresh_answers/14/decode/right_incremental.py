# an incremental decoder is fed piece by piece; pieces are made by a memoised closure when needed
import codecs


def decode(ids, merges):
    known = {i: bytes([i]) for i in range(256)}

    def piece(i):
        todo = [i]
        while todo:
            j = todo[-1]
            if j in known:
                todo.pop()
                continue
            missing = [k for k in merges[j - 256] if k not in known]
            if missing:
                todo.extend(missing)
            else:
                known[j] = known[merges[j - 256][0]] + known[merges[j - 256][1]]
        return known[i]

    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    limit = 255 + len(merges)
    out = []
    for i in map(int, ids):
        if i > limit or i < 0:
            raise ValueError(f"ids: {i} is not from 0 to {limit}")
        out.append(decoder.decode(piece(i)))
    out.append(decoder.decode(b"", final=True))
    return "".join(out)
