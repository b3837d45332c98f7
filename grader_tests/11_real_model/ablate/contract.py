"""`ablate`: some heads' outputs replaced by zero, or by their mean."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, non_contiguous

from ..common import ABLATION

ablate = exercise(
    "ablate",
    see=ABLATION,
    hints=(
        "In `(B, H, T, K)`, which dimension counts the heads? How do you reach several of them at once, "
        "for all texts and "
        "tokens?",
        "Work on a new tensor: the model goes on using the old one. Replace the outputs of a head by 0, or by row h of "
        "`mean` for every text and token.",
        "`out = head_outputs.clone()`, then `out[:, heads] = …`; the mean of the heads asked for has the shape "
        "(number of heads, K), and needs a dimension for T.",
    ),
)


@ablate.oracle
def ablate_oracle(head_outputs, heads, mean=None):
    chosen = [h in heads for h in range(head_outputs.shape[1])]
    mask = torch.tensor(chosen, device=head_outputs.device)[:, None, None]
    other = torch.zeros_like(head_outputs) if mean is None else mean[:, None].expand_as(head_outputs)
    return torch.where(mask, other, head_outputs)


COUNTED = torch.arange(1.0, 13.0).view(1, 3, 2, 2)
MEANS = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
ablate.example("head 1 of three", call(COUNTED, [1]), check_types=True)
ablate.example("heads 2 and 0, at their mean", call(COUNTED, [2, 0], MEANS).with_gradients())
ablate.example("no head at all; nothing is to be changed", call(COUNTED, []).does_not_mutate())
ablate.example(
    "head 0, at zero, with gradients; nothing is to be changed", call(COUNTED, [0]).with_gradients().does_not_mutate()
)


@ablate.criterion("zero for these heads, the others as they were", points=1)
def _(draw):
    yield call(draw.normal(2, 4, 3, 5), [1])
    yield call(draw.normal(3, 5, 2, 4), [4, 0, 2])
    yield call(draw.normal(2, 3, 5, 4), [0, 1, 2])
    yield call(draw.normal(4, 6, 3, 2), [])
    yield call(draw.normal(5, 4, 6, 3), heads=[3], mean=None)
    yield call(draw.normal(1, 2, 1, 3), [0])
    yield call(draw.normal(3, 1, 4, 2), [0]).label("a single head")
    yield call(draw.normal(3, 2, 4, 1), [1]).label("heads of one number")


@ablate.criterion("their mean, where it is given", points=0.5)
def _(draw):
    yield call(draw.normal(2, 4, 3, 5), [2], draw.normal(4, 5))
    yield call(draw.normal(3, 5, 2, 4), [3, 1], mean=draw.normal(5, 4))
    yield call(draw.normal(2, 3, 5, 4), [2, 0, 1], draw.normal(3, 4))
    yield call(draw.normal(4, 4, 4, 4), [0, 3], draw.normal(4, 4))
    yield call(draw.normal(2, 4, 3, 5), [1], torch.zeros(4, 5))


@ablate.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 4, 3, 5), [1, 3]).with_gradients()
    yield call(draw.normal(3, 4, 2, 5), [2, 0], draw.normal(4, 5)).with_gradients()


@ablate.criterion("what was given is left as it was", points=0.5)
def _(draw):
    yield call(draw.normal(2, 4, 3, 5), [1, 2]).does_not_mutate()
    yield call(draw.normal(2, 5, 3, 4), [0, 4], draw.normal(5, 4)).does_not_mutate()
    s = Script(head_outputs=draw.normal(2, 4, 2, 3), heads=[3, 0, 1])
    s.call(EXERCISE, s.head_outputs, s.heads, name="result")
    yield s.case(s.heads).label("the list `heads` after the call")


@ablate.criterion("float64, any layout and device", points=0.5, check_types=True)
def _(draw):
    double = draw.normal(2, 4, 3, 5, dtype=torch.float64), draw.normal(4, 5, dtype=torch.float64)
    yield call(double[0], [1]).tolerance(1e-12)  # the others are unchanged
    yield call(double[0], [1, 2], double[1]).tolerance(1e-12)
    yield call(draw.normal(2, 3, 4, 5).transpose(1, 2), [3], non_contiguous(draw.normal(4, 5)))
    yield call(draw.normal(2, 4, 3, 6), [2]).device_only()
    yield call(draw.normal(2, 4, 3, 6), [2], draw.normal(4, 6)).device_only()
