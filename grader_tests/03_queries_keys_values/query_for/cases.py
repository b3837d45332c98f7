"""What the cases of `query_for` are made of, and how some are judged."""

import math

import torch

from grading.judge.exercise import SUBJECT, Script, call, method


def fetches(keys, targets, pure=False):
    """A judge of one query: by the weights that unscaled attention gives with it, computed in float64.

    `pure`: the arguments must be as they were, too.
    """

    def judge(seen, exact):
        query = seen.values["result"]
        if query is None:
            return "the result is None, and must be a tensor; is the `return` missing?"
        if not isinstance(query, torch.Tensor):
            return f"the result is a {type(query).__name__}, and must be a tensor"
        if query.shape != keys.shape[1:]:
            return f"the result has shape {tuple(query.shape)}, and must have {tuple(keys.shape[1:])}"
        if query.dtype != keys.dtype:
            names = (str(t.dtype).removeprefix("torch.") for t in (query, keys))
            return "the result has dtype {}, and must have {}".format(*names)
        if not query.isfinite().all():
            return "the query holds NaN or infinite numbers"
        weights = torch.softmax(keys.double() @ query.double(), dim=0)[list(targets)]
        shown = " + ".join(f"{weight:.4f}" for weight in weights.tolist())
        # A hair of room for an answer that aims at 0.99 or at 0.001 exactly, in float32
        if not weights.max() - weights.min() <= 1e-3 + 1e-6:
            return f"with it attention gives the targets the weights {shown}, and they must be equal, to 0.001"
        if not weights.sum() >= 0.99 - 1e-5:
            total = f" = {weights.sum():.4f}" if len(targets) > 1 else ""
            return f"with it attention gives the targets {shown}{total}, and that must be at least 0.99"
        if pure and seen.values["targets"] != targets:
            return "the call changed its argument `targets`; work on a new list"
        if pure and seen.changed:
            return f"the call changed its argument `{next(iter(seen.changed))}` in place; work on a new tensor"
        return None

    return judge


def case(keys, *targets):
    targets = [int(t) for t in targets]
    which = "1 target" if len(targets) == 1 else f"{len(targets)} targets"
    kind = "" if keys.dtype == torch.float32 else " of " + str(keys.dtype).removeprefix("torch.")
    text = f"query_for for {len(keys)} keys of {keys.shape[1]} numbers{kind} and {which}"
    return call(keys, targets).holding(fetches(keys, targets)).described(text)


def crowded(draw, count, width, first):
    """Keys (count, width) that crowd around one direction, which is that of key `first`.

    Their condition number is below 4.5 times their count, so there are 22 at most. Whatever the draw, a query that
    copies keys goes wrong: every key has a greater dot product with key `first` than that has with itself (1.5 against
    1), and any other key has hardly a greater one with itself than with the rest (2.5 against 2.25).
    """
    assert count <= 22
    rows = torch.linalg.qr(draw.normal(width, width, dtype=torch.float64)).Q[:count]
    keys = 0.5 * rows + 1.5 * rows[first]
    keys[first] = rows[first]
    return keys.float().contiguous()


def conditioned(draw, count, width, condition, dtype, scale=1.0):
    """Keys (count, width) with singular values from scale down to scale / condition."""
    left, right = (torch.linalg.qr(draw.normal(n, n, dtype=torch.float64)).Q for n in (count, width))
    values = scale * torch.logspace(0, -math.log10(condition), count, dtype=torch.float64)
    return (left * values @ right[:count]).to(dtype).contiguous()


def weights_of(keys, targets, dtype=None):
    """A visible case: the program attends with the learner's query and shows the weights of the keys.

    `dtype`: that of the keys, in which the query must be, since a matrix takes no vector of another.
    """
    s = Script(keys=torch.tensor(keys, dtype=dtype))
    query = s.call(SUBJECT, s.keys, targets, name="query")
    if dtype is None:
        query = s.call(method(query, "type_as"), s.keys)
    scores = s.call(method(s.keys, "matmul"), query, name="scores")
    s.call(method(scores, "softmax"), 0, name="weights")
    kind = "" if dtype is None else " in " + str(dtype).removeprefix("torch.")
    # The oracle's targets get 0.995 together: half of a per cent less or more is right
    return (
        s.case()
        .unchanged()
        .within(0.0, 0.00505)
        .described(
            f"softmax(keys @ query, 0) with query = query_for(keys, {targets}), keys = {keys}{kind}; "
            "0.005 more or less is right"
        )
    )
