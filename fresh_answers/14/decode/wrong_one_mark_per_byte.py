# each bad byte becomes a � of its own, also where errors="replace" makes one of several
import codecs

codecs.register_error("each_byte_of_lesson_14", lambda e: ("\ufffd" * (e.end - e.start), e.end))


def decode(ids, merges):
    p = [bytes([i]) for i in range(256)]
    for a, b in merges:
        p.append(p[a] + p[b])
    for i in ids:
        if not 0 <= int(i) < len(p):
            raise ValueError(f"{int(i)} among the ids does not exist")
    return b"".join(p[int(i)] for i in ids).decode("utf-8", "each_byte_of_lesson_14")
