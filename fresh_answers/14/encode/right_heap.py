# a heap of (rank, place) over a doubly linked list
import heapq


def encode(text, merges):
    data = list(text.encode())
    n = len(data)
    right = list(range(1, n + 1))
    left = list(range(-1, n - 1))
    rank = {}
    for m, pair in enumerate(merges):
        rank.setdefault(pair, m)
    heap = []

    def offer(i):
        if 0 <= i < n and right[i] < n:
            pair = data[i], data[right[i]]
            if pair in rank:
                heapq.heappush(heap, (rank[pair], i, pair))

    for i in range(n):
        offer(i)
    while heap:
        m, i, pair = heapq.heappop(heap)
        if data[i] is None or right[i] >= n or (data[i], data[right[i]]) != pair:
            continue
        j = right[i]
        data[i], data[j] = 256 + m, None
        right[i] = right[j]
        if right[i] < n:
            left[right[i]] = i
        offer(left[i])
        offer(i)
    return [x for x in data if x is not None]
