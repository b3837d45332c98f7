"""Right answers to `train_bpe_counted`."""


# %% with_sets_of_positions
def train_bpe_counted(ids, n_merges):
    where, merges = {}, []
    position = ids.first
    while position is not None:
        pair = ids.pair(position)
        if pair is not None:
            where.setdefault(pair, set()).add(position)
        position = ids.after(position)
    while len(merges) < n_merges:
        best = min(where, key=lambda pair: (-len(where[pair]), pair), default=None)
        if best is None or len(where[best]) < 2:
            break
        new = 256 + len(merges)
        merges.append(best)
        for i in sorted(where[best]):
            if i not in where[best]:
                continue
            near = [ids.before(i), i, ids.after(i)]
            for j in near:
                pair = None if j is None else ids.pair(j)
                if pair is not None:
                    where[pair].discard(j)
            ids.join(i, new)
            for j in near[:2]:
                pair = None if j is None else ids.pair(j)
                if pair is not None:
                    where.setdefault(pair, set()).add(j)
    return merges


# %% with_counts_and_candidates
def train_bpe_counted(ids, n_merges):
    from collections import Counter, defaultdict

    counts, candidates, merges = Counter(), defaultdict(list), []

    def change(position, by):
        pair = ids.pair(position) if position is not None else None
        if pair:
            counts[pair] += by
            if by > 0:
                candidates[pair].append(position)

    position = ids.first
    while position is not None:
        change(position, 1)
        position = ids.after(position)
    for new in range(256, 256 + n_merges):
        often = max(counts.values(), default=0)
        if often < 2:
            break
        best = min(pair for pair, count in counts.items() if count == often)
        merges.append(best)
        for i in sorted(set(candidates.pop(best))):
            if ids.pair(i) == best:
                before = ids.before(i)
                for j in (before, i, ids.after(i)):
                    change(j, -1)
                ids.join(i, new)
                change(before, 1)
                change(i, 1)
    return merges
