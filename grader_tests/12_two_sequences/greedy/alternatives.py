"""Right answers to `greedy`."""


# %% with_a_break
def greedy(step, begin, end, max_length):
    ids = [begin]
    for _ in range(max_length):
        ids.append(int(step(ids).argmax()))
        if ids[-1] == end:
            break
    return ids


# %% with_while
def greedy(step, begin, end, max_length):
    ids, following = [begin], None
    while following != end and len(ids) <= max_length:
        following = step(ids).argmax().item()
        ids = [*ids, following]
    return ids


# %% by_recursion
def greedy(step, begin, end, max_length):
    def longer(ids):
        ids = [*ids, step(ids).max(-1).indices.item()]
        return ids if ids[-1] == end or len(ids) > max_length else longer(ids)

    return longer([begin])
