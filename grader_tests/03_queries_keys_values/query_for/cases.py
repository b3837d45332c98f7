"""Building blocks of the test cases of `query_for`."""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, call, method


def case(keys, *targets):
    targets = [int(t) for t in targets]
    which = "1 target" if len(targets) == 1 else f"{len(targets)} targets"
    kind = "" if keys.dtype == torch.float32 else " of " + str(keys.dtype).removeprefix("torch.")
    text = f"query_for for {len(keys)} keys of {keys.shape[1]} numbers{kind} and {which}"
    return call(keys, targets).check_with("query_retrieves_targets", keys=keys, targets=targets).label(text)


def crowded(draw, count, width, first):
    """Keys (count, width) crowded around the direction of key `first`.

    Their condition number is below 4.5 times their count, so there are at most 22. A query that copies keys is wrong
    for every draw: each other key's dot product with key `first` exceeds that key's with itself (1.5 against 1), and
    its product with itself hardly exceeds those with the rest (2.5 against 2.25).
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

    dtype: that of the keys, which the query must have, too, for a product with them
    """
    s = Script(keys=torch.tensor(keys, dtype=dtype))
    query = s.call(EXERCISE, s.keys, targets, name="query")
    if dtype is None:
        query = s.call(method(query, "type_as"), s.keys)
    scores = s.call(method(s.keys, "matmul"), query, name="scores")
    s.call(method(scores, "softmax"), 0, name="weights")
    kind = "" if dtype is None else " in " + str(dtype).removeprefix("torch.")
    # The oracle's targets get 0.995 together; 0.005 less or more is right
    return (
        s.case()
        .does_not_mutate()
        .tolerance(0.0, 0.00505)
        .label(
            f"softmax(keys @ query, 0) with query = query_for(keys, {targets}), keys = {keys}{kind}; "
            "0.005 more or less is right"
        )
    )
