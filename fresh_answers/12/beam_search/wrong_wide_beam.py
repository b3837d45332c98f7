# a width above the number of tokens is refused by topk
import torch


def beam_search(step, begin, end, width, max_length):
    if width < 1 or max_length < 1:
        raise ValueError(f"width {width} and max_length {max_length} must be at least 1")
    running, ended = [([begin], 0.0)], []
    for _ in range(max_length):
        pool = []
        for ids, score in running:
            best = torch.topk(step(list(ids)).detach(), width)
            for value, token in zip(best.values.tolist(), best.indices.tolist()):
                pool.append((ids + [token], score + value))
        pool = sorted(pool, key=lambda item: item[1])[-width:]
        running = []
        for item in pool:
            if item[0][-1] == end:
                ended.append(item)
            else:
                running.append(item)
        if not running:
            break
    return max(ended + running, key=lambda item: item[1] / (len(item[0]) - 1))[0]
