# all continuations as one table of float64, the best found by sorting it
import torch


def beam_search(step, begin, end, width, max_length):
    if width < 1:
        raise ValueError(f"a width of {width}")
    if max_length < 1:
        raise ValueError(f"a max_length of {max_length}")
    texts = [[begin]]
    totals = torch.zeros(1, 1, dtype=torch.float64)
    finalists = []
    for length in range(1, max_length + 1):
        rows = [step(text.copy()).detach().to("cpu", torch.float64) for text in texts]
        table = totals + torch.stack(rows)
        order = table.flatten().argsort(descending=True)[:width].tolist()
        grown = []
        for place in order:
            row, token = divmod(place, table.shape[1])
            total = table[row, token].item()
            text = texts[row] + [token]
            if token == end or length == max_length:
                finalists.append((total / length, text))
            if token != end:
                grown.append((total, text))
        if not grown:
            break
        texts = [text for _, text in grown]
        totals = torch.tensor([[total] for total, _ in grown], dtype=torch.float64)
    return max(finalists, key=lambda pair: pair[0])[1]
