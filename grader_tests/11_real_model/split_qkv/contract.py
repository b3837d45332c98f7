"""`split_qkv`: c_attn's fused weight and bias as those of three nn.Linear layers."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous, ref

from ...shared.elsewhere import filled_elsewhere
from ..common import FUSED

# The exercise asks for copies of a checkpoint's numbers, without gradients to the checkpoint.
split_qkv = exercise(
    "split_qkv",
    result_names=("q", "k", "v"),
    see=FUSED,
    hints=(
        "The published layer computes `x @ weight + bias`, with a weight (D, 3 * D). Which part of the 3 "
        "* D results are "
        "the queries: a part of the rows of `weight`, or of its columns?",
        "Cut the columns into three pieces of D, and the bias into three pieces of D. `nn.Linear` "
        "computes `x @ W.T + b`: "
        "transpose each piece. A piece of a tensor, and a transposed one, still share its memory.",
        "`weight.chunk(3, dim=…)` and `bias.chunk(3)`, side by side in a `zip`; of each pair a tuple of "
        "`….T.clone()` and `….clone()`.",
    ),
)


@split_qkv.oracle
def split_qkv_oracle(weight, bias):
    size = weight.shape[0]
    pieces = [slice(i * size, (i + 1) * size) for i in range(3)]
    return tuple((weight[:, piece].T.clone(), bias[piece].clone()) for piece in pieces)


def filled_afterwards(weight, bias, *, result=False):
    """The results after filling weight and bias with 9, or those after filling the results."""
    s = Script(weight=weight, bias=bias)
    s.call(EXERCISE, s.weight, s.bias, name="result")
    if result:
        for place in range(3):
            for kind in range(2):
                # Detached, it shares memory: autograd forbids writing into a parameter directly
                s.call(method(ref("result", place, kind), "detach"), name=f"{place} {kind}")
                s.call(method(ref(f"{place} {kind}"), "fill_"), 9.0)
        return s.case(s.weight, s.bias).label("weight and bias, after the results were filled with 9")
    s.call(method(s.weight, "fill_"), 9.0)
    s.call(method(s.bias, "fill_"), 9.0)
    return s.case(ref("result")).label("the results, after weight and bias were filled with 9")


split_qkv.example("width 1", call(torch.tensor([[2.0, 3.0, 5.0]]), torch.tensor([0.2, 0.3, 0.5])))
split_qkv.example("width 2", call(torch.arange(12.0).view(2, 6), torch.arange(6.0) / 10), check_types=True)
split_qkv.example(
    "width 2, and the checkpoint is filled with 9 afterwards",
    filled_afterwards(torch.arange(12.0).view(2, 6), torch.arange(6.0)),
)


@split_qkv.criterion("three pairs, as nn.Linear has them", points=1)
def _(draw):
    for width in (4, 5, 1, 12):
        yield call(draw.normal(width, 3 * width), draw.normal(3 * width))


@split_qkv.criterion("copies, which do not change with the checkpoint", points=0.5)
def _(draw):
    for width in (3, 6):
        yield filled_afterwards(draw.normal(width, 3 * width), draw.normal(3 * width))
        yield filled_afterwards(draw.normal(width, 3 * width), draw.normal(3 * width), result=True)
    yield filled_afterwards(non_contiguous(draw.normal(5, 15)), draw.normal(15))  # in memory as if transposed
    s = Script(weight=draw.normal(4, 12), bias=draw.normal(12))
    s.call(EXERCISE, s.weight, s.bias)
    for given in (s.weight, s.bias):
        s.call(method(given, "mul_"), 2.0)
    s.call(EXERCISE, s.weight, s.bias, name="again")
    yield s.case(ref("again")).label("the second of two calls, between which weight and bias were doubled")


@split_qkv.criterion("float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    double = draw.normal(4, 12, dtype=torch.float64), draw.normal(12, dtype=torch.float64)
    yield call(*double).tolerance(1e-12)  # a copy is exact
    yield call(draw.normal(5, 15), draw.normal(15)).does_not_mutate()
    yield call(non_contiguous(draw.normal(4, 12)), non_contiguous(draw.normal(12)))
    yield call(draw.normal(4, 12), draw.normal(12)).device_only()
    yield filled_elsewhere("split_qkv", draw.normal(4, 12), draw.normal(12))
