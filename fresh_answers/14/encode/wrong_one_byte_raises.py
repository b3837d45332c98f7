# a text of fewer than two bytes raises an error
def encode(text, merges):
    order = {pair: m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    while True:
        pair = min(zip(ids, ids[1:]), key=lambda p: order.get(p, float("inf")))
        if pair not in order:
            break
        new, i = [], 0
        while i < len(ids):
            if i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair:
                new.append(256 + order[pair])
                i += 2
            else:
                new.append(ids[i])
                i += 1
        ids = new
        if len(ids) == 1:
            break
    return ids
