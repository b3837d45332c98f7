"""Right answers to `beam_search` in other styles."""

import heapq

import torch


# %% beam_search_with_tuples
def beam_search(step, begin, end, width, max_length):
    if width < 1:
        raise ValueError(f"width must be at least 1, got {width}")
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, got {max_length}")
    beams, finished = [([begin], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, score in beams:
            for token, logp in enumerate(step(ids)):
                candidates.append((ids + [token], score + logp.item()))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = []
        for ids, score in candidates[:width]:
            if ids[-1] == end:
                finished.append((ids, score))
            else:
                beams.append((ids, score))
        if not beams:
            break
    ids, _ = max(finished + beams, key=lambda c: c[1] / (len(c[0]) - 1))
    return ids


# %% beam_search_in_tensors
def beam_search(step, begin, end, width, max_length):
    """Scores in one matrix, a row for each running sequence, and topk over all of it."""
    for name, value in {"width": width, "max_length": max_length}.items():
        if not value >= 1:
            raise ValueError(f"{name}={value}")
    running, totals = [[begin]], torch.zeros(1, dtype=torch.float64)
    best, best_mean = None, -float("inf")
    for length in range(1, max_length + 1):
        table = totals.unsqueeze(1) + torch.stack([step(list(ids)) for ids in running]).double().cpu()
        values, places = table.reshape(-1).topk(min(width, table.numel()))
        new, kept = [], []
        for value, place in zip(values, places, strict=True):
            ids = running[place // table.shape[1]] + [int(place % table.shape[1])]
            over = ids[-1] == end or length == max_length
            if over and value / length > best_mean:
                best, best_mean = ids, value / length
            if not over:
                new.append(ids)
                kept.append(value)
        if not new:
            return best
        running, totals = new, torch.stack(kept)
    return best


# %% beam_search_with_a_heap
import heapq


def beam_search(step, begin, end, width, max_length):
    if min(width, max_length) < 1:
        wrong = "width" if width < 1 else "max_length"
        raise ValueError(f"{wrong} is {width if width < 1 else max_length}")
    level, results = [(0.0, (begin,))], []
    while level:
        heap = []
        for total, ids in level:
            for token, logp in enumerate(step(list(ids)).tolist()):
                heapq.heappush(heap, (total + logp, (*ids, token)))
                if len(heap) > width:
                    heapq.heappop(heap)
        level = []
        for total, ids in heap:
            if ids[-1] == end or len(ids) > max_length:
                results.append((total / (len(ids) - 1), list(ids)))
            else:
                level.append((total, ids))
    return max(results)[1]


# %% beam_search_by_recursion
def beam_search(step, begin, end, width, max_length):
    if width < 1:
        raise ValueError(f"width: {width}")
    if max_length < 1:
        raise ValueError(f"max_length: {max_length}")

    def endings(level, left):
        """All sequences that come to their end from these, with their means."""
        over = [(total / (len(ids) - 1), ids) for total, ids in level if left == 0 or ids[-1] == end]
        going = [(total, ids) for total, ids in level if left > 0 and (ids[-1] != end or len(ids) == 1)]
        if not going:
            return over
        longer = [(total + float(p), [*ids, i]) for total, ids in going for i, p in enumerate(step(ids))]
        return over + endings(sorted(longer, reverse=True)[:width], left - 1)

    longer = sorted(((float(p), [begin, i]) for i, p in enumerate(step([begin]))), reverse=True)[:width]
    return max(endings(longer, max_length - 1))[1]
