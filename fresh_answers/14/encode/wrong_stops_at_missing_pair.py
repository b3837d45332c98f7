# stops at the first merge whose pair does not occur, though later ones may
def encode(text, merges):
    ids = list(text.encode())
    for m, pair in enumerate(merges):
        if pair not in zip(ids, ids[1:]):
            break
        i, new = 0, []
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                new.append(256 + m)
                i += 2
            else:
                new.append(ids[i])
                i += 1
        ids = new
    return ids
