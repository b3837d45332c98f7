"""Right answers to `join_pair`."""


# %% by_position
def join_pair(ids, pair, new):
    joined = []
    i = 0
    while i < len(ids):
        if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined


# %% looking_back
def join_pair(ids, pair, new):
    joined = []
    for i in ids:
        if joined and joined[-1] == pair[0] and i == pair[1] and joined[-1] != new:
            joined[-1] = new
        else:
            joined.append(i)
    return joined


# %% with_an_iterator
def join_pair(ids, pair, new):
    joined, rest = [], list(reversed(ids))
    while rest:
        first = rest.pop()
        if rest and (first, rest[-1]) == tuple(pair):
            rest.pop()
            first = new
        joined.append(first)
    return joined
