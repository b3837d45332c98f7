"""The errors that everybody meets have a word of help, which looks at the operation and its tensors' shapes."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest
import torch
from torch import nn

from course.harness.advice import HELP, help_with
from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node
from course.harness.shape_errors import shape_advice
from course.harness.slips import NO_RETURN, error_slip

GIVEN = """
class Line(nn.Module):
    def forward(self, x):
        return x

def helper(a, b, c):
    return a

"""


def raised(code: str) -> dict[str, Any]:
    """The record of the exception that calling `f` in this code raises, as in a check."""
    code = GIVEN + textwrap.dedent(code).strip() + "\n"
    name = f"<cell {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, "__name__": "__main__"}
    exec(compile(code, name, "exec"), names)
    program = Program({}, [("out", Node("student", {"name": "f"}), [], {})], ["out"], forbidden=["course"])
    record = observe(program, names).raised
    assert record is not None
    return record


A, B = "torch.ones(3, 4)", "torch.ones(5, 4)"
# what is written, and a word of what is said of it
COMMON = {
    "dot of matrices": (f"torch.dot({A}, {A})", "in a matrix product"),
    "expand": ("torch.ones(3).expand(4)", "do not broadcast"),
    "view": (f"{A}.T.view(12)", "`.reshape(...)`"),
    "a shape": (f"{A}.view(5, 2)", "another number of entries"),
    "reshape": (f"{A}.reshape(5, -1)", "another number of entries"),
    "dtypes": (f"{A} @ torch.ones(4, 2).double()", "different dtypes"),
    "a dtype in place": ("torch.arange(3).mul_(0.5)", "different dtypes"),
    "a mean of integers": ("torch.arange(3).mean()", "floating point"),
    "softmax of integers": ("torch.softmax(torch.arange(3), 0)", "floating point"),
    "devices": (f"{A} + torch.ones(3, 4, device='meta')", "different devices"),
    "a leaf in place": ("torch.ones(3, requires_grad=True).add_(1)", "Create a new tensor"),
    "a leaf's element": ("torch.ones(3, requires_grad=True).__setitem__(0, 1.0)", "Create a new tensor"),
    "no graph": ("torch.ones(3).sum().backward()", "Autograd has not recorded"),
    "backward of several": ("torch.ones(3, requires_grad=True).backward()", "needs a single number"),
    "a tuple": ("0.5 * torch.ones(3).chunk(3)", "You use a tuple"),
    "tuples joined": (f"torch.cat([({A}, {A})])", "You use a tuple"),
    "values and positions": (f"{A} - {A}.max(-1)", "`max` along a dimension returns two tensors"),
    "values and positions of min": (f"torch.exp({A}.min(-1))", "or use `amin`"),
    "a tuple and a number": (f"{A}.max(-1) + 1", "You use a tuple"),
    "values and positions of sort": (f"torch.exp({A}.sort(-1))", "Take `.values` or `.indices`."),
    "a solution": (f"torch.linalg.lstsq({A}, {A}) @ {A}", "such as `.solution`"),
    "factors": (f"torch.linalg.qr({A}) @ {A}", "`torch.linalg.qr` returns several results"),
    "a method": (f"{A}.exp.sum()", "missing parentheses"),
    "a method among numbers": (f"1 + {A}.numel", "missing parentheses"),
    "a method of Python's": ("1 + Line().forward", "missing parentheses"),
    "a method as an argument": (f"torch.exp({A}.sum)", "missing parentheses"),
    "a called tensor": (f"{A}.mT()", "You call a tensor"),
    "a parameter that is assigned": ("setattr(nn.Linear(4, 3), 'weight', torch.ones(3, 4))", "the parameter `weight`"),
    "an index into a number": ("(lambda n: n[0])(3)", "You index a plain number"),
    "a tensor for a number": ("torch.arange(torch.ones(3))", "A plain number is needed"),
    "a float for a size": (f"{A}.view(6 / 2, 4)", "`//` does not"),
    "a float for a later size": (f"{A}.view(3, 8 / 2)", "`//` does not"),
    "a float in a shape": (f"{A}.reshape((6 / 2, 4))", "`//` does not"),
    "a number in a matrix product": (f"{A} @ 0.5", "takes `*`"),
    "a number before it": (f"2 @ {A}", "takes `*`"),
    "index tensors": (f"{A}[torch.arange(2), torch.arange(3)]", "tensors that you index with"),
    "a float for a number of parts": (f"{A}.chunk(4 / 2)", "`//` does not"),
    "a float for a number of steps": ("range(4 / 2)", "`//` does not"),
    "a float in a slice": (f"{A}[: 4 / 2]", "`//` does not"),
    "a float as an index": (f"{A}[4 / 2]", "`//` does not"),
    "einsum without a letter": (f"torch.einsum('ij,jk->is', {A}, {A})", "`s` is in the result, but in no input"),
    "einsum with a letter for two": (f"torch.einsum('ij,jk->ik', {A}, {B})", "`j` stands for two sizes, 4 and 5"),
    "einsum with too many": (f"torch.einsum('ijk,jk->ik', {A}, {A})", "input 0 has 2 dimensions, but the letters of 3"),
    "a parameter of whole numbers": ("nn.Parameter(torch.tensor(0))", "holds integers"),
    "a parameter of a number": ("nn.Parameter(0.0)", "need a tensor"),
    "no forward": ("type('M', (nn.Module,), {})()(1)", "has no `forward`"),
    "a loop over a number": ("list(torch.tensor(1.0))", "You loop over"),
    "an if": (f"1 if {A} > 0 else 0", "as a condition"),
    "numpy": ("torch.ones(3, requires_grad=True).numpy()", "You convert a tensor to NumPy"),
    "a number": (f"float({A})", "plain Python numbers"),
    "a number by item": (f"{A}.item()", "plain Python numbers"),
    "dim": ("torch.ones(3).sum(1)", "a dimension that the tensor does not have"),
    "indices": ("torch.ones(3)[torch.ones(2)]", "integers (int64)"),
    "an index": ("torch.ones(3)[3]", "0 to n - 1"),
    "too many indices": ("torch.ones(3)[0, 0]", "0 to n - 1"),
    "a row of a table": ("F.embedding(torch.tensor([7]), torch.ones(3, 4))", "0 to n - 1"),
    "indices of rows": ("F.embedding(torch.ones(2), torch.ones(3, 4))", "int64"),
    "cat": (f"torch.cat([{A}, torch.ones(3, 5)])", "torch.cat"),
    "stack": (f"torch.stack([{A}, {B}])", "torch.stack"),
    "a plain number": ("torch.exp(1.0)", "Python's `math`"),
    "None": ("None @ torch.ones(3)", "has no `return`"),
    "None's attribute": ("None.shape", "has no `return`"),
    "None as an argument": (f"{A}.masked_fill(None, 0.0)", "has no `return`"),
    "no dim": (f"torch.softmax({A})", "`softmax` is called without `dim`."),
    "an argument of a method": (f"{A}.transpose(0)", "`transpose` is called without `dim1`."),
    "two arguments": ("helper(1)", "`helper` is called without `b` and `c`."),
    "too many arguments": ("helper(1, 2, 3, 4)", "`helper` takes fewer arguments than you give it."),
    "another argument": (f"torch.softmax({A}, dim=-1, keepdim=True)", "`softmax` has no argument `keepdim`."),
    "arguments of other types": (f"{A}.sum(dims=-1)", "`sum` does not take arguments of these types."),
}


@pytest.mark.parametrize(("code", "word"), COMMON.values(), ids=COMMON)
def test_an_error_that_everybody_meets_has_a_word_of_help(code, word):
    assert word in help_with(raised(f"def f():\n    x = 1\n    return {code}"))[1]


LONGER = {
    "unpacking": ("def f():\n    B, T, D = torch.ones(3, 4).shape", "Count both"),
    "changed after use": (
        "def f():\n    x = torch.ones(3, requires_grad=True)\n    y = x.exp()\n    y += 1\n    y.sum().backward()",
        "the backward pass needs",
    ),
    "twice": (
        "def f():\n    y = torch.ones(3, requires_grad=True).exp().sum()\n    y.backward()\n    y.backward()",
        "twice on the same",
    ),
    "no super().__init__()": (
        "class M(nn.Module):\n    def __init__(self):\n        self.W_q = nn.Linear(3, 3)\ndef f(): M()",
        "super().__init__()",
    ),
    "a parameter before it": (
        "class M(nn.Module):\n    def __init__(self):\n        self.w = nn.Parameter(torch.ones(3))\ndef f(): M()",
        "super().__init__()",
    ),
    "called without it": (
        "class M(nn.Module):\n    def __init__(self): pass\n    def forward(self): return self.W_q\ndef f(): M()()",
        "super().__init__()",
    ),
}


@pytest.mark.parametrize(("code", "word"), LONGER.values(), ids=LONGER)
def test_an_error_of_several_lines_has_its_word_of_help_too(code, word):
    assert word in help_with(raised(code))[1]


def test_every_word_of_help_is_said_for_something():
    said = [help_with(raised(f"def f(): return {code}"))[1] for code, _ in COMMON.values()]
    said += [help_with(raised(code))[1] for code, _ in LONGER.values()]
    for words in HELP:
        before, *parts = words.split("{")
        whole = [before, *(part.partition("}")[2] for part in parts)]
        assert any(all(piece in text for piece in whole) for text in said), words
    assert help_with({"message": "a thing of my own", "line": "x"}) == ("", "")


# ------------------------------------------------------------------------------------------------------------- shapes

COLUMN = "`[:, None]` makes a column of one of them"
SHAPES = {
    "a product entry by entry": (f"{A} * torch.ones(4, 2)", "`*` cannot combine the shapes (3, 4) and (4, 2).", "`@`"),
    "a vector times a matrix": ("torch.ones(3) * torch.ones(3, 2)", "the shapes (3,) and (3, 2)", "`@` would fit"),
    "two vectors": ("torch.arange(3) == torch.arange(2)", "`==` cannot combine the shapes (3,) and (2,).", COLUMN),
    "a vector for a column": (f"{A} - torch.ones(3)", "the shapes (3, 4) and (3,)", "`[:, None]` adds one of size 1"),
    "in a batch": ("torch.ones(2, 3, 4) / torch.ones(2, 3)", "second has one dimension fewer", "`[..., None]` adds"),
    "in the middle": ("torch.ones(2, 3, 4) + torch.ones(2, 4)", "has one dimension fewer", "`[..., None, :]` adds"),
    "a sum": (f"{A} / {A}.sum(-1)", "`/` cannot combine the shapes (3, 4) and (3,).", "second has lost a dimension"),
    "a sum of torch's": (f"{A} / torch.sum({A}.exp(), 1)", "lost a dimension", "`keepdim=True` keeps it"),
    "a sum within": (f"{A} - {A}.exp().sum(-1).log()", "second has lost a dimension", "`keepdim=True` keeps it"),
    "a sum on the left": (f"{A}.mean(-1) - {A}", "the shapes (3,) and (3, 4)", "The first has lost a dimension"),
    "a sum over both": (f"({A} * torch.ones(3)).sum(-1)", "the shapes (3, 4) and (3,)", "one dimension fewer"),
    "in a function": (
        f"torch.where(({A} > 0).all(-1), {A}, 0.0)",
        "`where` cannot combine the shapes (3,) and (3, 4).",
        "The first has lost a dimension",
    ),
    "a mask": (f"{A}.masked_fill(torch.ones(4, 3) > 0, 0)", "`masked_fill` cannot combine", "(`.mT`), the second"),
    "two columns": ("torch.ones(2, 1) + torch.ones(3, 1)", "the shapes (2, 1) and (3, 1)", "(`.mT`), the second"),
    "a remainder": ("torch.arange(3) % torch.arange(2)", "`%` cannot combine the shapes (3,) and (2,).", COLUMN),
    "a quotient": ("torch.arange(3) // torch.arange(1, 3)", "`//` cannot combine the shapes (3,) and (2,).", COLUMN),
    "a place": (f"{A}.__setitem__(0, torch.ones(3))", "shape (3,) does not fit where you assign it.", "from the right"),
    "nothing that fits": (f"{A} + torch.ones(5, 2)", "the shapes (3, 4) and (5, 2)", "compared from the right"),
    "matrices": (f"{A} @ {B}", "`@` cannot multiply the shapes (3, 4) and (5, 4).", "(`.mT`), the second would fit"),
    "the first turned": (f"{A} @ torch.ones(3, 2)", "the shapes (3, 4) and (3, 2)", "(`.mT`), the first would fit"),
    "batches": ("torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 3, 4))", "(2, 3, 4) and (2, 3, 4)", "the second would"),
    "a vector on the right": (f"{A} @ torch.ones(3)", "cannot multiply the shapes (3, 4) and (3,).", "`A @ B` takes"),
    "entry by entry": (f"{A} @ torch.ones(3, 1)", "the shapes (3, 4) and (3, 1)", "the first would fit"),
    "products that fit": (f"{A} @ torch.ones(1, 2).mT", "(3, 4) and (2, 1)", "`A @ B` takes"),
    "a linear layer": ("nn.Linear(3, 2)(torch.ones(5, 4))", "for inputs of width 3 got the shape (5, 4)", "last size"),
}


@pytest.mark.parametrize(("code", "what", "cure"), SHAPES.values(), ids=SHAPES)
def test_shapes_that_do_not_fit_are_told_with_what_would(code, what, cure):
    kind, text = help_with(raised(f"def f(): return {code}"))
    assert what in text
    assert cure in text
    assert ("keepdim" in text) == ("lost" in text)
    assert kind in ("broadcast", "product", "linear", "assignment")


def test_dimensions_are_asked_for_by_more_than_joining():
    joined = help_with(raised(f"def f(): return torch.cat([{A}, torch.ones(4)])"))[1]
    assert joined.startswith("The tensors that you join")
    assert help_with(raised(f"def f(): return torch.gather({A}, 1, torch.arange(3))")) == ("", "")


def test_without_the_operation_the_rule_is_told():
    message = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    assert shape_advice({"message": message, "line": "x + y"})[1].startswith("Two shapes do not broadcast.")
    message = "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x4)"
    assert shape_advice({"message": message, "line": ""})[0] == "product"


# ------------------------------------------------------------------------------- what a test case does with the answer


def refused(kind: str, message: str, line: str = "") -> str:
    return error_slip("softmax", {"type": kind, "bases": [], "message": message, "line": line}).text


def test_without_a_line_of_the_learners_only_the_answer_itself_is_spoken_of():
    assert refused("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)") == ""
    assert refused("TypeError", "matmul(): argument 'other' (position 1) must be Tensor, not float") == ""
    assert refused("TypeError", "unsupported operand type(s) for @: 'Tensor' and 'NoneType'") == NO_RETURN
    whole = refused("TypeError", "matmul(): argument 'other' must be Tensor, not torch.return_types.linalg_lstsq")
    assert whole.startswith("You return all that `torch.linalg.lstsq` gives")
    forward = refused("NotImplementedError", 'Module [A] is missing the required "forward" function')
    assert forward.startswith("The module has no `forward`.")


def test_a_signature_is_wrong_only_where_the_call_itself_fails():
    message = "softmax() takes 1 positional argument but 2 were given"
    assert refused("TypeError", message).startswith("`softmax` has the wrong signature.")
    assert refused("TypeError", message, "softmax(x, 1)").startswith("`softmax` takes fewer arguments")


def test_sizes_that_torch_does_not_take_are_told_from_a_function_of_the_same_name():
    sizes = error_slip("f", raised(f"def f(): return {A}.reshape(6 / 2, 4)"))
    assert sizes.text.startswith("One of the sizes that you give is not a whole number.")
    own = error_slip("f", raised(f"def tile(x): return x\ndef f(): return tile({A}, 2)"))
    assert own.text.startswith("`tile` takes fewer arguments")
    method = "class M:\n    def expand(self): return 1\ndef f(): return M().expand(1, 2)"
    assert error_slip("f", raised(method)).text.startswith("`expand` takes fewer arguments")
