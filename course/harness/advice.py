"""Advice on common errors of torch, by patterns of their messages."""

from __future__ import annotations

import re

# Advice -> patterns; the first entry with a match in the message is used
HELP: dict[str, tuple[str, ...]] = {
    (
        "The sizes in a matrix product do not fit. `A @ B` takes A as (..., n, k) and B as (..., k, m): the last size "
        "of A must equal the second-to-last of B. `B.transpose(-2, -1)` swaps the last two dimensions of B."
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
        "Two shapes do not broadcast. Sizes are compared from the right, and in each pair they must be equal or one of "
        "them 1. To combine a sum or a maximum with the tensor it was taken from, use `keepdim=True`."
    ): (
        r"must match the size of tensor",
        r"broadcast",
        r"must match the existing size",
        r"not broadcastable",
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
    ("`__init__` must begin with `super().__init__()`. It prepares the `nn.Module` to hold layers and parameters."): (
        r"before Module\.__init__\(\) call",
        r"has no attribute '_(modules|parameters|buffers|backward_hooks|forward_hooks)'",
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
    ),
    (
        "Only floating-point tensors can have gradients, but this one holds integers. Write `torch.tensor(0.0)`, with "
        "a decimal point, or convert it with `.float()`."
    ): (r"Only Tensors of floating point and complex dtype can require",),
    ("The module has no `forward`. Check its spelling, and that it is indented as part of the class."): (
        r"is missing the required \"forward\" function",
    ),
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
        "The tensor has fewer dimensions than that. Count from the end: -1 is the last dimension, however many come "
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
        r"same number of dimensions",
    ),
    (
        "A torch function expected a tensor, but got a plain number or list. Use Python's `math` for plain numbers, or "
        "`torch.tensor(...)` first."
    ): (
        r"must be Tensor, not",
        r"must be tensor, not",
        r"expected Tensor as",
    ),
    (
        "The left side has more or fewer names than the right side has values. Count the dimensions of the shape: "
        "`*_, T, D = x.shape` takes the last two, however many there are."
    ): (
        r"too many values to unpack",
        r"not enough values to unpack",
    ),
    ("A value is None. Check whether a function that you call has no `return`."): (r"'NoneType'",),
    ("A call has arguments that the function does not take. Compare the call with the function's first line."): (
        r"missing \d+ required positional argument",
        r"takes .* positional arguments? but",
        r"received an invalid combination of arguments",
        r"unexpected keyword argument",
    ),
}


def help_with(message: str) -> str:
    """Advice on an error with this message; empty for an unknown one."""
    return next((words for words, known in HELP.items() if any(re.search(pattern, message) for pattern in known)), "")
