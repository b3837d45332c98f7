"""`count_parameters`: how many numbers a module trains, each parameter once."""

import math

from grading.exercises.exercise import EXERCISE, Script, helper, method, sample_model, step

from ...shared import BUILT_IN
from .cases import any_type, counting

count = step(
    "count_parameters",
    see="Exercise: `count_parameters(module)` (extra)",
    forbidden=BUILT_IN,
    hints=(
        "What does `module.parameters()` give you, and how often does it give a parameter that is used twice? Try it "
        "on `nn.Sequential(a, a)`.",
        "Go through all parameters of the module, leave out those that are not trained, and add up how many numbers "
        "each of them holds.",
        "`sum(… for parameter in module.parameters() if …)`, with `parameter.numel()` and `parameter.requires_grad`.",
    ),
)


@count.oracle
def count_oracle(module):
    found = {}
    for part in module.modules():
        for parameter in part._parameters.values():
            if parameter is not None and parameter.requires_grad:
                found[id(parameter)] = math.prod(parameter.shape)
    return sum(found.values())


count.example(
    "a linear layer from 3 to 2",
    counting("count_parameters(nn.Linear(3, 2))", {"weight": [2, 3], "bias": [2]}),
    check_types=True,
)


@count.example("the same with its bias frozen")
def _():
    text = "count_parameters(nn.Linear(3, 2)), the bias with requires_grad=False"
    yield counting(text, {"weight": [2, 3], "bias": [2]}, frozen=["bias"])


@count.example("one layer used twice")
def _():
    text = "count_parameters(nn.Sequential(a, a)), with a = nn.Linear(3, 3, bias=False)"
    yield counting(text, {"0.weight": [3, 3]}, tied={"1": "0"})


@count.example("two layers of the same shape, and a third one further in")
def _():
    text = (
        "count_parameters(nn.Sequential(a, b, nn.Sequential(c))), with layers 3 to 3, 3 to 3 and 4 to 4 without biases"
    )
    yield counting(text, {"0.weight": [3, 3], "1.weight": [3, 3], "2.0.weight": [4, 4]})


@count.example("one table for reading in and for writing out")
def _():
    text = "count_parameters of an embedding (5, 4) and a linear layer whose weight is the same parameter"
    yield counting(text, {"embedding.weight": [5, 4]}, tied={"head.weight": "embedding.weight"})


@count.criterion("every part, every shape", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(7)]
    yield any_type(
        "a module in a module in a module, with weights, biases, a single number, and buffers",
        {
            "scale": [n[6]],
            "0.weight": [n[0], n[1]],
            "0.bias": [n[0]],
            "body.1.norm.weight": [n[1]],
            "body.1.norm.bias": [n[1]],
            "body.1.gain": [],
            "body.1.inner.table": [n[2], n[3], n[4]],
            "body.2.norm.weight": [n[1]],
        },
        buffers={"body.mask": [n[5], n[6]], "running": [n[5]]},
    )
    yield any_type(
        "parameters of equal shape, some of them in a list",
        {"a.weight": [n[0], n[1]], "b.weight": [n[0], n[1]], "c": [n[1], n[0]]},
        lists={"steps": [[n[0]], [n[0]], [n[2], n[3]]]},
    )
    s = Script(module=sample_model("Projections", width=n[0], n_heads=1))
    s.call(helper("fill"), s.module, 0.0)
    s.call(EXERCISE, s.module, name="result")
    yield s.case().label("a module whose parameters are all 0").check_with("equal_number")
    s = Script(module=sample_model("Projections", width=n[1], n_heads=1))
    s.call(method(s.module, "eval"))
    s.call(EXERCISE, s.module, name="result")
    yield s.case().label("a module in eval mode").check_with("equal_number")


@count.criterion("frozen parameters are left out", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(5)]
    yield any_type(
        "a module with frozen and trainable parameters in one layer",
        {
            "a.weight": [n[0], n[1]],
            "a.bias": [n[0]],
            "b.weight": [n[2], n[3]],
            "b.bias": [n[4]],
            "c.table": [n[1], n[3]],
        },
        frozen=["a.weight", "b.bias"],
    )
    yield any_type(
        "a module that is frozen as a whole", {"a.weight": [n[0], n[1]], "b": [n[2]]}, frozen=["a.weight", "b"]
    )
    yield any_type("a module without parameters", {}, buffers={"mask": [n[0], n[1]]})
    s = Script(module=sample_model("Projections", width=n[2], n_heads=1))
    s.call(EXERCISE, s.module)
    s.call(method(s.module, "requires_grad_"), False)
    s.call(EXERCISE, s.module, name="result")
    yield s.case().label("a module that is counted, frozen and counted again").check_with("equal_number")


@count.criterion("a parameter that is used twice counts once", points=0.5)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(5)]
    yield any_type(
        "one layer in two places",
        {"0.weight": [n[0], n[1]], "0.bias": [n[0]], "1.weight": [n[2], n[3]]},
        tied={"2": "0"},
    )
    yield any_type(
        "one parameter in two layers, one of which has a bias of its own",
        {"read.weight": [n[0], n[1]], "write.bias": [n[0]], "middle.weight": [n[1], n[1]]},
        tied={"write.weight": "read.weight", "again": "write.bias"},
    )
    yield any_type("a frozen parameter in two places", {"a": [n[0]], "b.w": [n[1]]}, tied={"c.w": "a"}, frozen=["a"])


@count.criterion("a Python int, and nothing is changed", points=0.5, check_types=True)
def _(draw):
    n = [int(i) + 2 for i in draw.permutation(4)]
    parameters = {"a.weight": [n[0], n[1]], "a.bias": [n[0]], "b": [n[2]]}
    s = Script(
        module=sample_model("assembled", parameters=parameters, frozen=["a.bias"], tied={"c.weight": "a.weight"})
    )
    s.call(method(s.module, "train"))
    steps = [s.call(EXERCISE, s.module, name=name) for name in ("first", "second")]
    steps.append(s.call(EXERCISE, sample_model("assembled", parameters={"z": [97]}), name="of another"))
    for what, of in (("state", "state_of"), ("trainable", "trainable"), ("modes", "modes_of")):
        steps.append(s.call(helper(of), s.module, name=what))
    case = s.case(*steps).check_with("returns_int_without_side_effects")
    yield case.label("count_parameters(module), twice, and the module afterwards")
