"""What several exercises of the lesson say."""

import torch

from ..shared import BUILT_IN, INF

# PyTorch's attention holds a softmax, too
NOT_ALLOWED = (
    ".*softmax.*",
    "softmin",
    "log(cum)?sumexp",
    "(?!binary).*cross_entropy.*",
    "distributions",
    *BUILT_IN,
)


def levels(*values):
    """A column of numbers, one for each row: scores of rows that lie far apart."""
    return torch.tensor(values).unsqueeze(-1)


def with_gaps(x, *places):
    """`x` with -inf at these places, which are indices into its last dimension, one tuple a row."""
    for row, gaps in zip(x.view(-1, x.shape[-1]), places, strict=True):
        row[list(gaps)] = -INF
    return x


def exact_zeros(seen, exact):
    """Where the exact weight is 0, the weight must be 0 and not merely small."""
    found, right = seen.values["result"], exact.values["result"]
    if found.shape != right.shape:
        return f"the result has shape {tuple(found.shape)}, and must have {tuple(right.shape)}"
    hidden = right == 0
    wrong = hidden & ~(found == 0)
    if wrong.any():
        return f"{int(wrong.sum())} of the {int(hidden.sum())} weights that belong to a score of -inf are not exactly 0"
    return None


def changes_nothing(seen, exact):
    """Only whether arguments were changed: what came out is judged elsewhere."""
    if seen.changed:
        return f"the call changed its argument `{next(iter(seen.changed))}` in place"
    return None
