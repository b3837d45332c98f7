# the mean is over all ids, begin included, which favours short sequences
import heapq


def beam_search(step, begin, end, width, max_length):
    if min(width, max_length) < 1:
        name = "width" if width < 1 else "max_length"
        raise ValueError(f"{name} is {min(width, max_length)}")
    alive = [(0.0, (begin,))]
    complete = []
    for _ in range(max_length):
        grown = (
            (total + p, ids + (token,))
            for total, ids in alive
            for token, p in enumerate(step(list(ids)).tolist())
        )
        kept = heapq.nlargest(width, grown)
        complete += [pair for pair in kept if pair[1][-1] == end]
        alive = [pair for pair in kept if pair[1][-1] != end]
        if not alive:
            break
    total, ids = max(complete + alive, key=lambda pair: pair[0] / len(pair[1]))
    return list(ids)
