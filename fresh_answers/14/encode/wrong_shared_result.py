# the list in a cache is handed out, so a caller who changes it changes the next result
from functools import lru_cache


@lru_cache(maxsize=None)
def _ids(text, merges):
    s = text.encode().decode("latin1")
    for m, (a, b) in enumerate(merges):
        s = s.replace(chr(a) + chr(b), chr(256 + m))
    return [ord(c) for c in s]


def encode(text, merges):
    return _ids(text, tuple(merges))
