"""Advice on common errors of Python and torch, by patterns of their messages.

Does not cover: shapes that do not fit (`shape_errors.py`), exceptions that the exercise's name decides (`slips.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .sentences import fill_groups
from .shape_errors import shape_advice

# Advice, with {1} for the first group of the pattern -> patterns; the first one with a match in the message is used
HELP: dict[str, tuple[str, ...]] = {
    ("In `einsum`, the letter `{1}` is in the result, but in no input. A letter after `->` has to occur before it."): (
        r"output subscript (\w) does not appear",
    ),
    ("In `einsum`, the letter `{1}` stands for two sizes, {3} and {2}. Different sizes need different letters."): (
        r"subscript (\w) has size (\d+) for operand \d+ which does not broadcast with previously seen size (\d+)",
    ),
    (
        "In `einsum`, input {3} has {2} dimensions, but the letters of {1}. Each dimension has one letter, and inputs "
        "count from 0."
    ): (r"subscripts in the equation \((\d+)\) does not match the number of dimensions \((\d+)\) for operand (\d+)",),
    (
        "`torch.linalg.{1}` returns several results in a tuple. Take the one that you need by its name, such as "
        "`.solution`."
    ): (r"torch\.return_types\.linalg_(lstsq)",),
    ("`torch.linalg.{1}` returns several results in a tuple. Unpack them, or take the one that you need."): (
        r"torch\.return_types\.linalg_(\w+)",
    ),
    (
        "`{1}` along a dimension returns two tensors, the values and their positions. Take `.values`, or use `a{1}`, "
        "which returns the values alone."
    ): (r"torch\.return_types\.(max|min)\b",),
    ("`{1}` returns two tensors, the values and their positions. Take `.values` or `.indices`."): (
        r"torch\.return_types\.(\w+)",
    ),
    (
        "A method is used without being called. `x.sum` is the method itself, and `x.sum()` its result: look for "
        "missing parentheses."
    ): (r"builtin_function_or_method", r"'method'", r"must be Tensor, not method"),
    (
        "You call a tensor as if it were a function. `mT`, `T` and `shape` take no parentheses, and between two "
        "factors a `*` or `@` may be missing."
    ): (r"'Tensor' object is not callable",),
    (
        "You assign a plain tensor to the parameter `{1}`, but only an `nn.Parameter` can take its place. Keep the "
        "parameter, and write the numbers into it while no gradients are recorded."
    ): (r"cannot assign '.*' as parameter '(\w+)'",),
    (
        "You index a plain number, which has no entries. Where a function needs a tensor, make one first, as in "
        "`torch.tensor([3])`."
    ): (r"'(?:int|float|bool)' object is not subscriptable",),
    ("A plain number is needed here, but you give a tensor. `len(x)` and `x.shape[0]` are plain numbers."): (
        r"must be (?:Number|int|float|tuple of ints), not Tensor",
    ),
    ("A whole number is needed here, but you give a float. `/` always makes a float, even of 4 / 2; `//` does not."): (
        r"tuple of ints.*\bfloat\b",
        r"must be int, not float",
        r"view\(\) received .* got \([^)]*\bfloat\b",
        r"'float' object cannot be interpreted as an integer",
        r"slice indices must be integers",
        r"valid indices \(got float\)",
    ),
    (
        "The tensors that you index with do not fit each other. They are paired entry by entry, so their shapes must "
        "broadcast."
    ): (r"indexing tensors could not be broadcast",),
    ("`@` multiplies two tensors. A tensor times a plain number takes `*`."): (
        r"for @: '(?:Tensor|Parameter)' and '(?:int|float)'",
        r"for @: '(?:int|float)' and '(?:Tensor|Parameter)'",
    ),
    ("A value is None. Check whether a function that you call has no `return`, or an argument has no value."): (
        r"\bNoneType\b",
    ),
    ("`{1}` is called without {2}. An argument that has no default must be given."): (
        r"(\w+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)",
    ),
    ("`{1}` takes fewer arguments than you give it. Compare the call with the signature of `{1}`."): (
        r"(\w+)\(\) takes .* positional arguments? but",
    ),
    ("`{1}` has no argument `{2}`. Compare the call with the signature of `{1}`."): (
        r"(\w+)\(\) got an unexpected keyword argument '(\w+)'",
    ),
    ("`{1}` does not take arguments of these types. Compare the call with the signature of `{1}`."): (
        r"(\w+)\(\) received an invalid combination of arguments",
    ),
    ("`__init__` must begin with `super().__init__()`. It prepares the `nn.Module` to hold layers and parameters."): (
        r"before Module\.__init__\(\) call",
        r"has no attribute '_(modules|parameters|buffers|backward_hooks|forward_hooks)'",
    ),
    ("The module has no `forward`. Check its spelling, and that it is indented as part of the class."): (
        r"is missing the required \"forward\" function",
    ),
    (
        "`view` cannot read this tensor, which is not contiguous after a transpose. Use `.reshape(...)`, which copies "
        "if it must, or `.contiguous()` before `.view(...)`."
    ): (r"view size is not compatible",),
    ("The new shape has another number of entries than the tensor. The product of its sizes must equal theirs."): (
        r"shape '.*' is invalid for input",
    ),
    (
        "Two tensors have different dtypes. Create new tensors with the dtype of the input (`dtype=x.dtype`), or "
        "convert one of the two."
    ): (
        r"same dtype",
        r"expected scalar type",
        r"expected dtype",
        r"have the same dtype",
        r"can't be cast to",
    ),
    (
        "A tensor holds integers or booleans, but the function needs floating point. Convert it with `.float()` or "
        "`.to(x.dtype)`."
    ): (
        r"could not infer output dtype",
        r"only Tensors of floating point",
        r"not implemented for '(Long|Int|Bool)'",
    ),
    ("Two tensors are on different devices. Create new tensors on the device of the input: `device=x.device`."): (
        r"tensors? to be on the same device",
        r"expected device",
        r"is on cpu.* but",
    ),
    (
        "You change a tensor in place that needs a gradient (`x[...] = `, `x += `, `x.mul_()`). Create a new tensor "
        "instead: `x = x + 1`, `torch.where`, `masked_fill`."
    ): (
        r"leaf Variable that requires grad",
        r"view of a leaf",
    ),
    ("You change a tensor in place whose old values the backward pass needs. Create a new tensor instead."): (
        r"modified by an inplace operation",
    ),
    (
        "Autograd has not recorded how this number was computed. Either no tensor was marked with `requires_grad_()` "
        "before the computation, or it ran under `no_grad`, or it left the computation graph (`.detach()`, `.item()`, "
        "`torch.tensor(…)`)."
    ): (r"does not require grad and does not have a grad_fn",),
    (
        "You call `backward()` on a tensor with several entries, but it needs a single number. Take the mean or the "
        "sum first, whichever the exercise asks for."
    ): (r"grad can be implicitly created only for scalar outputs",),
    (
        "You use a tuple as if it were a tensor. Some functions return several results (attention its output and its "
        "weights, `torch.autograd.grad`, `max(dim=…)`, `chunk`), and a comma at the end of a line makes a tuple. "
        "Unpack it, as in `(g,) = …`, or take one item, `[0]`."
    ): (
        r"sequence by non-int",
        r"unsupported operand type\(s\) for .*'tuple'",
        r"'tuple' object has no attribute",
        r"must be Tensor, not tuple",
        r"expected Tensor as .* got tuple",
        r"can only concatenate tuple",
    ),
    (
        "Only floating-point tensors can have gradients, but this one holds integers. Write `torch.tensor(0.0)`, with "
        "a decimal point, or convert it with `.float()`."
    ): (r"Only Tensors of floating point and complex dtype can require",),
    ("You call `backward` twice on the same computation. Compute the loss again for each step."): (
        r"backward through the graph a second time",
    ),
    (
        "You use a tensor with several entries as a condition (`if`, `and`, `or`, `not`). Use `.any()` or `.all()`, or "
        "choose entry by entry with `torch.where` and `&`, `|`, `~`."
    ): (r"Boolean value of Tensor with more than one",),
    ("You convert a tensor to NumPy, where autograd cannot follow. Use the torch function of the same name."): (
        r"numpy\(\) on Tensor that requires grad",
    ),
    (
        "`nn.Parameter(…)` and `.detach()` need a tensor, but got a plain number or list. Make a tensor first, as in "
        "`nn.Parameter(torch.tensor(0.0))`."
    ): (r"'(float|int|list)' object has no attribute 'detach'",),
    (
        "You mix tensors and plain Python numbers. `.item()` and `float(…)` take a tensor with one entry, and their "
        "result leaves the computation graph: compute with the tensor."
    ): (
        r"'(float|int)' object has no attribute",
        r"only one element tensors",
        r"with \d+ elements cannot be converted to Scalar",
        r"only integer tensors of a single",
    ),
    (
        "You name a dimension that the tensor does not have. Count from the end: -1 is the last one, however many come "
        "before it."
    ): (r"Dimension out of range",),
    (
        "You loop over a tensor that is a single number (0 dimensions). Operations on whole tensors work for any shape."
    ): (r"iteration over a 0-d tensor",),
    ("Indices must be integers (int64) or booleans. Convert them with `.long()`."): (
        r"used as indices must be",
        r"expected.*indices.*(Long|Int)",
        r"Expected tensor for argument #\d 'indices'",
    ),
    ("An index is out of range. A dimension of size n has the indices 0 to n - 1, and so has a list of n items."): (
        r"index out of range in self",
        r"index .* is out of bounds",
        r"too many indices for tensor",
        r"list index out of range",
    ),
    (
        "The tensors that you join do not fit. `torch.cat` needs all dimensions equal but the one that it joins along; "
        "`torch.stack` needs all of them equal."
    ): (
        r"Sizes of tensors must match except",
        r"expects each tensor to be equal size",
        r"must have same number of dimensions",
    ),
    (
        "A torch function expected a tensor, but got a plain number or list. Use Python's `math` for plain numbers, or "
        "`torch.tensor(...)` first."
    ): (
        r"must be [Tt]ensor, not (?:float|int|bool|list)\b",
        r"expected Tensor as .* got (?:float|int|bool|list)\b",
    ),
    (
        "The left side has more or fewer names than the right side has values. Count both. Of a shape, "
        "`*_, T, D = x.shape` takes the last two, however many there are."
    ): (
        r"too many values to unpack",
        r"not enough values to unpack",
    ),
}


def help_with(raised: Mapping[str, Any]) -> tuple[str, str]:
    """Advice on an exception, and its kind, which is equal for other shapes; empty: none.

    raised  the exception's record
    """
    for words, patterns in HELP.items():
        for pattern in patterns:
            if found := re.search(pattern, raised["message"]):
                return (text := fill_groups(words, found)), text
    return shape_advice(raised)
