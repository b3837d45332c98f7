# logits that are not contiguous raise an error (view)
import torch


def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p: {p!r} is outside of (0, 1]")
    flat = logits.view(-1, logits.shape[-1])
    probs = flat.softmax(1)
    rows = []
    for row in probs:
        s, i = row.sort(descending=True)
        n = len(row) if p == 1 else int((s.cumsum(0) - s < p).sum())
        keep = torch.zeros_like(row).index_fill(0, i[:n], 1)
        rows.append(row * keep / (row * keep).sum())
    return torch.stack(rows).view(logits.shape)
