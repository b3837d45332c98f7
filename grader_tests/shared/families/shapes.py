"""Dimensions that are exchanged, lost, or chosen by position."""

from grading.exercises.exercise import Family, wrapped

reshaped_keys = Family(
    "reshaped-not-transposed",
    "reshapes_the_keys",
    "You reshape {what} (`view`, `reshape`) where you should transpose. The shape is right, but the numbers stay "
    "in their order, so a column holds pieces of several {what}.",
    words={"what": "keys"},
)
view_of_strided = Family(
    "view-of-strided",
    "by_view",
    "You use `view`, which fails if the numbers are not contiguous in memory, as after a `transpose`. `reshape` "
    "copies them where it must.",
)
squeezed = Family(
    "squeezed",
    "squeezes",
    "You squeeze away a dimension of size 1 that has to stay, such as one of the batch. `squeeze()` without a "
    "dimension removes every dimension of size 1. Say which one to remove, such as `squeeze(-1)`.",
)
result_squeezed = squeezed.made_by(wrapped("return right(*args, **kwargs).squeeze()"))
all_dimensions_reversed = Family(
    "all-dimensions-reversed",
    "reverses_all_dimensions",
    "You reverse all dimensions, including those of the batch, as `{what}.T` does. Swap only the last two: `mT`, "
    "or `transpose(-2, -1)`.",
    words={"what": "keys"},
)
one_batch_dimension = Family(
    "one-batch-dimension",
    "names_one_batch_dimension",
    "Your einsum has one letter for the batch, so it takes exactly one batch dimension. Write `...` instead, which "
    "stands for any number of dimensions, including none.",
)
first_dimension = Family(
    "wrong-dimension",
    "works_along_dimension_0_by_default",
    "You work along the first dimension if `dim` is not given. The default is the last one, `dim=-1`.",
)
dimension_ignored = Family(
    "dim-ignored",
    "ignores_dim",
    "You ignore `dim` and always work along the last dimension.",
)
dimensions_from_the_front = Family(
    "wrong-dimension",
    "counts_dimensions_from_the_front",
    "Your softmax runs along the wrong dimension in a batch. It is right for a single sentence only: count "
    "dimensions from the end.",
)
dimension_lost = Family(
    "keepdim-missing",
    "forgets_keepdim",
    "Your maximum or sum has lost its dimension, so it does not broadcast with the rows that it came from. Shapes "
    "such as `(4, 6)` and `(4,)` do not fit. Keep the dimension with `keepdim=True`.",
)
dimension_kept = Family(
    "extra-dimension",
    "keeps_a_dimension",
    "Your {what} has a last dimension of size 1. Its shape must be {shape}.",
    words={"what": "log-sum-exp", "shape": "(..., T), one number per query"},
)
rows_and_columns_exchanged = Family(
    "rows-and-columns-exchanged",
    "exchanges_rows_and_columns",
    "You swap rows and columns. Rows are queries, columns are keys.",
)
classes_reshaped = Family(
    "reshaped-not-transposed",
    "scrambles_the_classes",
    "You swap classes and positions by reshaping (`view`, `reshape`), which mixes logits of several positions. The "
    "numbers stay in their order. Find the operation that swaps two dimensions.",
)
