"""Right answers to `decode` in other styles."""

import torch


# %% a_table_of_pieces
def decode(ids, merges):
    table = {i: bytes([i]) for i in range(256)}
    for m, (left, right) in enumerate(merges):
        table[256 + m] = table[left] + table[right]
    wrong = [int(i) for i in ids if int(i) not in table]
    if wrong:
        raise ValueError(f"ids contains {wrong[0]}, but the last id is {255 + len(merges)}")
    return b"".join(table[int(i)] for i in ids).decode("utf-8", errors="replace")


# %% taken_apart_by_a_stack
def decode(ids, merges):
    ids = ids.tolist() if isinstance(ids, torch.Tensor) else list(ids)
    for i in ids:
        if i not in range(256 + len(merges)):
            raise ValueError(f"{i} in ids is no token")
    stack, found = ids[::-1], bytearray()
    while stack:
        i = stack.pop()
        if i < 256:
            found.append(i)
        else:
            left, right = merges[i - 256]
            stack += [right, left]
    return found.decode("utf-8", "replace")


# %% recursively
def piece(i, merges):
    if i < 256:
        return (i,)
    left, right = merges[i - 256]
    return piece(left, merges) + piece(right, merges)


def decode(ids, merges):
    found = []
    for i in map(int, ids):
        if not 0 <= i < 256 + len(merges):
            raise ValueError(f"ids: {i} does not exist")
        found += piece(i, merges)
    return str(bytes(found), encoding="utf-8", errors="replace")


# %% merges_undone_from_the_last
def decode(ids, merges):
    ids, size = torch.as_tensor(ids).tolist(), 256 + len(merges)
    if ids and not (min(ids) >= 0 and max(ids) < size):
        raise ValueError(f"ids {ids} has an id that is not in 0..{size - 1}")
    for new in reversed(range(256, size)):
        apart = []
        for i in ids:
            apart.extend(merges[new - 256] if i == new else [i])
        ids = apart
    return bytes(ids).decode(errors="replace")


# %% with_a_string_of_ids
def decode(ids, merges):
    word = ""
    for i in ids:
        number = int(i)
        if number < 0 or number > 255 + len(merges):
            raise ValueError("ids holds %d" % number)
        word += chr(number)
    for m in range(len(merges) - 1, -1, -1):
        word = word.replace(chr(256 + m), "".join(map(chr, merges[m])))
    return word.encode("latin-1").decode("utf-8", "replace")


# %% by_an_incremental_decoder
def decode(ids, merges):
    import codecs

    pieces = [bytes((i,)) for i in range(256)]
    for left, right in merges:
        pieces += [pieces[left] + pieces[right]]
    decoder, text = codecs.getincrementaldecoder("utf-8")("replace"), ""
    for i in ids:
        i = int(i)
        if i < 0:
            raise ValueError(f"ids must not be negative: {i}")
        try:
            text += decoder.decode(pieces[i])
        except IndexError:
            raise ValueError(f"ids has {i}, and there are {len(pieces)} pieces") from None
    return text + decoder.decode(b"", final=True)


# %% a_class_with_cached_pieces
class Pieces:
    def __init__(self, merges):
        self.merges, self.known = merges, {}

    def __getitem__(self, i):
        if i < 256:
            return bytes([i])
        if i not in self.known:
            self.known[i] = b"".join(self[part] for part in self.merges[i - 256])
        return self.known[i]


def decode(ids, merges):
    pieces, found = Pieces(merges), bytearray()
    for i in ids if isinstance(ids, list) else ids.tolist():
        if i < 0 or i - 256 >= len(merges):
            raise ValueError(f"ids: there is no id {i}")
        found += pieces[i]
    return bytes(found).decode("utf-8", errors="replace")
