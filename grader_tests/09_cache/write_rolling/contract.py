"""`write_rolling`, a step: a buffer of the last `window` rows."""

import torch

from grading.exercises.exercise import EXERCISE, Script, step

write_rolling = step(
    "write_rolling",
    see="Exercise: write into a rolling buffer (extra)",
    hints=(
        "Which row does position 0 go to, in a window of 3? And positions 3, 4 and 7?",
        "`torch.arange(start, start + T)` are the positions. The remainder of each, `%`, is its row.",
        "The shape of the code: `rows = torch.arange(<…>) % <…>`, then `kept[..., rows, :] = <…>`, then `return <…>`.",
    ),
)


@write_rolling.oracle
def write_rolling_oracle(kept, new, start):
    for i in range(new.shape[-2]):
        kept.select(-2, (start + i) % kept.shape[-2]).copy_(new.select(-2, i))
    return kept


def rolled(kept, *writes):
    """Calls with (new, start) one after another; the results and the buffer are observed at the end."""
    s = Script(kept=kept, **{f"new{i}": new for i, (new, _) in enumerate(writes)})
    results = [
        s.call(EXERCISE, s.kept, getattr(s, f"new{i}"), start, name=f"result{i}") for i, (_, start) in enumerate(writes)
    ]
    return s.case(*results, s.kept).may_mutate("kept")


write_rolling.example(
    "the worked example",
    rolled(torch.tensor([[0.0], [1.0], [2.0]]), (torch.tensor([[3.0], [4.0]]), 3)).label(
        "write_rolling(kept, new, 3), and kept afterwards"
    ),
)
write_rolling.example(
    "from position 5 on, over the edge",
    rolled(torch.zeros(2, 3, 1), (torch.tensor([[[5.0], [6.0]], [[50.0], [60.0]]]), 5)).label(
        "write_rolling(kept, new, 5), and kept afterwards"
    ),
)


@write_rolling.criterion("each position in its row")
def _(draw):
    yield rolled(draw.normal(4, 3), (draw.normal(1, 3), draw.integer(40, 90)))
    yield rolled(draw.normal(2, 3, 5, 4), (draw.normal(2, 3, 4, 4), 0), (draw.normal(2, 3, 1, 4), 4))
    yield rolled(draw.normal(2, 5, 3), (draw.normal(2, 3, 3), 14), (draw.normal(2, 2, 3), 17))
    yield rolled(draw.normal(2, 4, 3), (draw.normal(2, 4, 3), draw.integer(5, 8)))
    yield rolled(draw.normal(5, 3, dtype=torch.float64), (draw.normal(2, 3, dtype=torch.float64), 9))
