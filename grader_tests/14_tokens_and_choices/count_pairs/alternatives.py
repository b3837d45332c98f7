"""Right answers to `count_pairs`."""


# %% with_get
def count_pairs(ids):
    counts = {}
    for left, right in zip(ids, ids[1:]):
        counts[left, right] = counts.get((left, right), 0) + 1
    return counts


# %% with_a_counter
def count_pairs(ids):
    from collections import Counter

    return dict(Counter(zip(ids, ids[1:])))


# %% by_position
def count_pairs(ids):
    from collections import defaultdict

    counts = defaultdict(int)
    for i in range(1, len(ids)):
        counts[(ids[i - 1], ids[i])] += 1
    return dict(counts)
