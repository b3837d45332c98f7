"""What the cases of `most_similar` are made of, and how some are judged."""

import torch.nn.functional as F


def clear_winners(draw, *leading, queries, keys, width, change=lambda q, k: (q, k)):
    """Queries (..., T, K) and keys (..., S, K) of very different lengths.

    Every winner wins by 0.01 at least, so that rounding decides nothing. `change(q, k)` puts in
    what the case is about.
    """
    while True:
        q = draw.normal(*leading, queries, width) * draw.uniform(*leading, queries, 1, low=0.2, high=5.0)
        k = draw.normal(*leading, keys, width) * draw.uniform(*leading, keys, 1, low=0.1, high=10.0)
        q, k = change(q, k)
        cosines = F.cosine_similarity(q.double().unsqueeze(-2), k.double().unsqueeze(-3), dim=-1, eps=1e-30)
        best = cosines.topk(min(2, keys), dim=-1).values
        if keys == 1 or bool((best[..., 0] - best[..., 1] > 0.01).all()):
            return q, k
