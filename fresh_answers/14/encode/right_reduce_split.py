# functools.reduce over the merges; an iterator with one id put back joins
from functools import reduce


def _swap(ids, numbered):
    number, (first, second) = numbered
    result, i = [], 0
    while i < len(ids):
        try:
            at = ids.index(first, i, len(ids) - 1)
        except ValueError:
            break
        result.extend(ids[i:at])
        if ids[at + 1] == second:
            result.append(number)
            i = at + 2
        else:
            result.append(first)
            i = at + 1
    return result + ids[i:]


def encode(text, merges):
    return reduce(_swap, enumerate(merges, start=256), list(text.encode()))
