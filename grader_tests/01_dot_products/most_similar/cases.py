"""Building blocks of the test cases of `most_similar`."""

import torch
import torch.nn.functional as F


def clear_winners(draw, *leading, queries, keys, width, change=lambda q, k: (q, k), away=False):
    """Queries (..., T, D) and keys (..., S, D) of very different lengths.

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


def rows_with_a_lead(draw, batch, *, queries, keys, width):
    """Queries (batch, T, D) and keys (batch, S, D) of any sizes; each winner leads by at least 0.02.

    Rounded to two decimals, or in half precision, the cosines still have the same winner: at no size does luck tell.
    """
    k = draw.normal(batch, keys, width) * draw.uniform(batch, keys, 1, low=0.1, high=10.0)

    def query_for(these_keys):
        def leads(q):
            best = F.cosine_similarity(q.double(), these_keys.double(), dim=-1).topk(min(2, keys)).values
            return keys == 1 or bool(best[0] - best[1] > 0.02)

        return draw.until(lambda: draw.normal(width), leads)

    return torch.stack([torch.stack([query_for(rows) for _ in range(queries)]) for rows in k]), k
