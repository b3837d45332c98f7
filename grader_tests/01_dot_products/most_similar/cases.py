"""Building blocks of the test cases of `most_similar`."""

import torch.nn.functional as F


def clear_winners(draw, *leading, queries, keys, width, change=lambda q, k: (q, k), away=False):
    """Queries (..., T, K) and keys (..., S, K) of very different lengths.

    Every winner leads by at least 0.01, so that rounding decides nothing, and has a positive cosine, unless the case is
    about keys that point `away`. Among several queries and keys, a long key would win somewhere by its dot product, and
    another one if columns were normalised instead of rows. So such mistakes lose the same with every seed.
    `change(q, k)` adds the property that the case is about.
    """
    while True:
        q = draw.normal(*leading, queries, width) * draw.uniform(*leading, queries, 1, low=0.2, high=5.0)
        k = draw.normal(*leading, keys, width) * draw.uniform(*leading, keys, 1, low=0.1, high=10.0)
        q, k = change(q, k)
        cosines = F.cosine_similarity(q.double().unsqueeze(-2), k.double().unsqueeze(-3), dim=-1, eps=1e-30)
        best = cosines.topk(min(2, keys), dim=-1).values
        clear = keys == 1 or bool((best[..., 0] - best[..., 1] > 0.01).all())
        towards = away or bool((best[..., 0] > 0.01).all())
        others = (q @ k.mT, F.normalize(q, dim=-2) @ F.normalize(k, dim=-2).mT)
        loses = all(bool((other.argmax(-1) != cosines.argmax(-1)).any()) for other in others)
        if clear and towards and (loses or queries == 1 or keys == 1):
            return q, k
