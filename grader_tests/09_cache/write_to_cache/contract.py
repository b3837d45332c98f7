"""`write_to_cache`, a step: new rows in place, and a view of all rows so far."""

import torch

from grading.exercises.exercise import EXERCISE, Script, step

write_to_cache = step(
    "write_to_cache",
    see="Exercise: write at a position",
    hints=(
        "Which rows do the new ones go to, if `start` rows are filled? What is the last one's number?",
        "`kept[..., a:b, :]` are rows a to b - 1. On the left of `=` it writes into `kept`; on the right it is a view.",
        "The shape of the code: `stop = <…>`, then `kept[..., <…>, :] = new`, then `return kept[..., <…>, :]`.",
    ),
)


@write_to_cache.oracle
def write_to_cache_oracle(kept, new, start):
    stop = start + new.shape[-2]
    kept.narrow(-2, start, stop - start).copy_(new)
    return kept.narrow(-2, 0, stop)


def written(kept, *writes):
    """Calls with (new, start) one after another; all results and the memory are observed at the end."""
    s = Script(kept=kept, **{f"new{i}": new for i, (new, _) in enumerate(writes)})
    results = [
        s.call(EXERCISE, s.kept, getattr(s, f"new{i}"), start, name=f"result{i}") for i, (_, start) in enumerate(writes)
    ]
    return s.case(*results, s.kept).may_mutate("kept")


write_to_cache.example(
    "the worked example",
    written(torch.tensor([[1.0], [2.0], [0.0], [0.0]]), (torch.tensor([[3.0]]), 2)).label(
        "write_to_cache(kept, new, 2), and kept afterwards"
    ),
)
write_to_cache.example(
    "a prefill of two rows, then one row",
    written(torch.zeros(1, 2, 4, 2), (torch.arange(8.0).view(1, 2, 2, 2), 0), (torch.full((1, 2, 1, 2), 9.0), 2)).label(
        "write_to_cache(kept, new, 0), then write_to_cache(kept, one, 2), and kept afterwards"
    ),
)


@write_to_cache.criterion("in place, at their positions")
def _(draw):
    yield written(draw.normal(7, 3), (draw.normal(2, 3), 3))
    yield written(draw.normal(2, 3, 6, 4), (draw.normal(2, 3, 4, 4), 0), (draw.normal(2, 3, 1, 4), 4))
    yield written(draw.normal(2, 5, 3), (draw.normal(2, 5, 3), 0))
    # The second call writes over rows of the first, whose result is a view and so shows them
    yield written(draw.normal(2, 6, 3), (draw.normal(2, 2, 3), 2), (draw.normal(2, 2, 3), 1)).label(
        "write_to_cache(kept, new, 2), then write_to_cache(kept, other, 1), and kept afterwards"
    )
    yield written(draw.normal(5, 3, dtype=torch.float64), (draw.normal(1, 3, dtype=torch.float64), 4))
