"""`alignment_error`: the share of targets whose greatest weight is not at their source."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, helper, method, non_contiguous, ref

from .cases import looking

alignment_error = exercise(
    "alignment_error",
    see="5. Read the alignment",
    hints=(
        "For each target you have a row of weights and the number of one source position. What does the row say, as a "
        "single number, that can be compared with it?",
        "`argmax` along the row gives where a target looks. Compare with `alignment`, and count only over targets "
        "that have a source. By how many do you divide, and what if there are none?",
        "`has_source = alignment >= 0`; `wrong = weights.argmax(…) != alignment`; the mean of `wrong[has_source]` in "
        "the dtype of the weights. The mean of nothing is NaN: look after it.",
    ),
)


@alignment_error.oracle
def alignment_error_oracle(weights, alignment):
    rows = [t for t in range(len(alignment)) if alignment[t] >= 0]
    wrong = sum(int(weights[t].max(0).indices != alignment[t]) for t in rows)
    return weights.new_tensor(wrong / max(1, len(rows)))


SEEN = torch.tensor([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.8, 0.1], [0.6, 0.1, 0.3]])

alignment_error.example("one of three is wrong", call(SEEN[:3], torch.tensor([0, 1, 1])), check_types=True)
alignment_error.example("the last one has no source", call(SEEN, torch.tensor([0, 2, 0, -1])))
alignment_error.example("none has a source", call(SEEN[:2], torch.tensor([-1, -1])))
alignment_error.example("arguments left as they were", call(SEEN, torch.tensor([1, -1, 1, 0])).does_not_mutate())


@alignment_error.criterion("the share of greatest weights that lie elsewhere", points=1)
def _(draw):
    for T, S, wrong in ((7, 5, 2), (5, 8, 4), (9, 4, 1), (6, 6, 2)):
        yield call(*looking(draw, T, S, wrong=wrong))
    yield call(*looking(draw, 5, 7, wrong=0))
    yield call(*looking(draw, 4, 6, wrong=4))
    yield call(*looking(draw, 1, 3, wrong=1))
    yield call(*looking(draw, 5, 24, wrong=2, even=2.0))  # the greatest weight of a row is not large


@alignment_error.criterion("targets without a source do not count; where none has one it is 0", points=1.5)
def _(draw):
    for T, S, wrong, without in ((9, 5, 2, 3), (6, 7, 1, 4), (8, 3, 3, 2), (5, 6, 1, 4), (7, 4, 0, 2)):
        yield call(*looking(draw, T, S, wrong=wrong, without=without))
    yield call(*looking(draw, 4, 5, wrong=0, without=4))
    yield call(*looking(draw, 1, 3, wrong=0, without=1))


@alignment_error.criterion(
    "the dtype of weights, no gradient, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    # Two source positions: the distance of an error cannot matter
    weights, alignment = looking(draw, 7, 2, wrong=3, without=1)
    yield call(weights, alignment)
    yield call(weights.double(), alignment).does_not_mutate()
    weights, alignment = looking(draw, 6, 2, wrong=2, without=1)
    yield call(non_contiguous(weights), non_contiguous(alignment)).does_not_mutate()
    yield call(weights, alignment).device_only()
    yield tracked(weights, alignment)
    weights, alignment = looking(draw, 3, 2, wrong=0, without=3)  # the dtype matters even with nothing to count
    yield call(weights, alignment)
    yield call(weights.double(), alignment)
    yield tracked(weights, alignment)


def tracked(weights, alignment):
    """Whether the error rate of weights that require gradients requires one."""
    s = Script(weights=weights, alignment=alignment)
    learnt = s.call(method(s.call(method(s.weights, "clone"), name="copy"), "requires_grad_"), name="learnt")
    share = s.call(EXERCISE, learnt, s.alignment, name="share")
    s.call(helper("attribute"), share, "requires_grad", name="asks")
    T, S = weights.shape
    text = f"whether alignment_error(weights ({T}, {S}) that require a gradient, alignment ({T},) int64) requires one"
    return s.case(ref("asks")).label(text)
