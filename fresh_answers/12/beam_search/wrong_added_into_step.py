# the total so far is added into the tensor that step returned, which may be kept there
import torch


def beam_search(step, begin, end, width, max_length):
    for name, number in (("width", width), ("max_length", max_length)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1, not {number}")
    beams = [([begin], 0.0)]
    done = []
    for _ in range(max_length):
        options = []
        for ids, total in beams:
            with torch.no_grad():
                log_p = step(ids[:])
                log_p += total
            values, tokens = log_p.topk(min(width, len(log_p)))
            options += [(ids + [t], v) for t, v in zip(tokens.tolist(), values.tolist())]
        options.sort(key=lambda option: option[1], reverse=True)
        options = options[:width]
        done += [o for o in options if o[0][-1] == end]
        beams = [o for o in options if o[0][-1] != end]
        if not beams:
            break
    return max(done + beams, key=lambda o: o[1] / (len(o[0]) - 1))[0]
