"""Advice on common errors of torch, by patterns of their messages."""

from __future__ import annotations

import re

# Advice -> patterns; the first entry with a match in the message is used
HELP: dict[str, tuple[str, ...]] = {
    (
        "A matrix product `A @ B` takes A as (..., n, k) and B as (..., k, m): the last size of A is the "
        "second last of B. `B.transpose(-2, -1)` swaps the two last ones."
    ): (
        r"shapes cannot be multiplied",
        r"size mismatch, got",
        r"batch1 and batch2",
        r"of batch2 tensor",
        r"both arguments to (linear|matmul)",
        r"vector \+ matrix",
        r"inconsistent tensor size",
        r"1D tensors expected",
        r"expected (a|2D|1D) (matrix|tensor|.*vectors)",
    ),
    (
        "Sizes are compared from the right, and each pair must be equal, or one of them 1. A sum or a maximum"
        " that should line up with what it was taken from wants `keepdim=True`."
    ): (
        r"must match the size of tensor",
        r"broadcast",
        r"must match the existing size",
        r"not broadcastable",
    ),
    (
        "After a transpose the numbers lie in another order than `view` can read. `.reshape(...)` copies them"
        " where it must; so does `.contiguous()` before `.view(...)`."
    ): (r"view size is not compatible",),
    ("A view or a reshape keeps every number: the sizes, multiplied, must be as many as the tensor has."): (
        r"shape '.*' is invalid for input",
    ),
    (
        "Two dtypes do not mix here. Make new tensors with the dtype of the argument (`dtype=x.dtype`), or convert one."
    ): (
        r"same dtype",
        r"expected scalar type",
        r"expected dtype",
        r"have the same dtype",
        r"can't be cast to",
    ),
    ("These are whole numbers or booleans, and this function wants floating point: `.float()`, or `.to(x.dtype)`."): (
        r"could not infer output dtype",
        r"only Tensors of floating point",
        r"not implemented for '(Long|Int|Bool)'",
    ),
    ("Two tensors are on different devices. Make new ones where the argument is: `device=x.device`."): (
        r"tensors? to be on the same device",
        r"expected device",
        r"is on cpu.* but",
    ),
    (
        "This changes a tensor in place that gradients are asked for (`x[...] = `, `x += `, `x.mul_()`). Make"
        " a new tensor instead: `x = x + 1`, `torch.where`, `masked_fill`."
    ): (
        r"leaf Variable that requires grad",
        r"view of a leaf",
    ),
    (
        "A tensor was changed in place after it had been used, and its old numbers are needed for the "
        "gradient. Make a new tensor instead."
    ): (r"modified by an inplace operation",),
    (
        "The first line of `__init__` must be `super().__init__()`: it makes the place where an `nn.Module` keeps its "
        "layers and parameters."
    ): (
        r"before Module\.__init__\(\) call",
        r"has no attribute '_(modules|parameters|buffers|backward_hooks|forward_hooks)'",
    ),
    (
        "Autograd has recorded nothing that leads to this number. Either no tensor was marked with `requires_grad_()` "
        "before the computation, or it ran under `no_grad`, or it left the computation graph on the way (`.detach()`, "
        "`.item()`, `torch.tensor(…)`)."
    ): (r"does not require grad and does not have a grad_fn",),
    (
        "`backward()` needs a single number, and you call it on a tensor of several. Take the mean or the sum first, "
        "whichever the exercise asks for."
    ): (r"grad can be implicitly created only for scalar outputs",),
    (
        "A tuple is used as if it were a tensor. Some functions return several results (`torch.autograd.grad`, "
        "`max(dim=…)`, `chunk`), and a comma at the end of a line makes a tuple: unpack it, as in `(g,) = …`, or take "
        "one item, `[0]`."
    ): (
        r"sequence by non-int",
        r"unsupported operand type\(s\) for .*'tuple'",
        r"'tuple' object has no attribute",
        r"must be Tensor, not tuple",
    ),
    (
        "Only floating-point tensors can have gradients, and this one holds whole numbers: write `torch.tensor(0.0)`, "
        "with a decimal point, or convert it with `.float()`."
    ): (r"Only Tensors of floating point and complex dtype can require",),
    ("The module has no `forward`. Is it spelt like that, and indented as part of the class?"): (
        r"is missing the required \"forward\" function",
    ),
    ("`backward` was called twice on one computation. Compute the loss anew for each step."): (
        r"backward through the graph a second time",
    ),
    (
        "An `if`, `and`, `or` or `not` needs one yes or no, and this tensor has many. Ask `.any()` or "
        "`.all()`, or choose element by element with `torch.where` and `&`, `|`, `~`."
    ): (r"Boolean value of Tensor with more than one",),
    ("You leave torch for NumPy on the way, where no gradient can follow: do the same with torch's functions."): (
        r"numpy\(\) on Tensor that requires grad",
    ),
    (
        "A tensor of several numbers is used as one Python number. `.item()` and `float(…)` take a single number, and "
        "their result leaves the computation graph: compute with the tensor."
    ): (
        r"'(float|int)' object has no attribute",
        r"only one element tensors",
        r"with \d+ elements cannot be converted to Scalar",
        r"only integer tensors of a single",
    ),
    ("The tensor has fewer dimensions than that. Count from the end: -1 is the last one, whatever stands before it."): (
        r"Dimension out of range",
    ),
    (
        "A tensor of no dimensions is a single number, and has no rows to loop over. Operations on a whole tensor work "
        "for any shape."
    ): (r"iteration over a 0-d tensor",),
    ("What picks rows must be whole numbers (int64) or booleans: `.long()`."): (
        r"used as indices must be",
        r"expected.*indices.*(Long|Int)",
        r"Expected tensor for argument #\d 'indices'",
    ),
    ("An index is out of range: a dimension of size n has the indices 0 to n - 1, and a list of n items, too."): (
        r"index out of range in self",
        r"index .* is out of bounds",
        r"too many indices for tensor",
        r"list index out of range",
    ),
    ("`torch.cat` joins along one dimension and needs all others equal; `torch.stack` needs all of them equal."): (
        r"Sizes of tensors must match except",
        r"expects each tensor to be equal size",
        r"same number of dimensions",
    ),
    (
        "This function of torch takes a tensor and got a plain number or list. Use Python's `math` for plain "
        "numbers, or `torch.tensor(...)` first."
    ): (
        r"must be Tensor, not",
        r"must be tensor, not",
        r"expected Tensor as",
    ),
    (
        "The left side has another number of names than the right side has values. How many dimensions does "
        "the shape have here? `*_, T, D = x.shape` takes the last two of any."
    ): (
        r"too many values to unpack",
        r"not enough values to unpack",
    ),
    ("Something is None here. Is a `return` missing in a function that was called?"): (r"'NoneType'",),
    ("A call and the function that it calls have different arguments. Compare with the function's first line."): (
        r"missing \d+ required positional argument",
        r"takes .* positional arguments? but",
        r"received an invalid combination of arguments",
        r"unexpected keyword argument",
    ),
}


def help_with(message: str) -> str:
    """Advice on an error with this message; empty for an unknown one."""
    return next((words for words, known in HELP.items() if any(re.search(pattern, message) for pattern in known)), "")
