"""Right answers to `clipped_precision` in other styles."""


# %% with_counters
def clipped_precision(written, reference, n):
    from collections import Counter

    if n < 1:
        raise ValueError(f"n must be 1 or more, not {n}")
    mine, theirs = (Counter(zip(*(tokens[i:] for i in range(n)))) for tokens in (written, reference))
    return (mine & theirs).total() / max(1, mine.total())


# %% crossed_off
def clipped_precision(written, reference, n):
    if n <= 0:
        raise ValueError(f"n: {n}")
    left = [reference[i : i + n] for i in range(len(reference) - n + 1)]
    grams = [written[i : i + n] for i in range(len(written) - n + 1)]
    found = 0
    for gram in grams:
        if gram in left:
            left.remove(gram)
            found += 1
    return found / len(grams) if grams else 0.0


# %% by_the_smaller_count
def clipped_precision(written, reference, n):
    if not n > 0:
        raise ValueError(f"n={n} makes no n-grams")

    def grams(tokens):
        return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]

    mine, theirs = grams(written), grams(reference)
    if len(mine) == 0:
        return 0.0
    return sum(min(mine.count(gram), theirs.count(gram)) for gram in set(mine)) / len(mine)
