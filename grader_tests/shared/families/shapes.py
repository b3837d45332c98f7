"""Dimensions that are exchanged, lost, or chosen by position."""

from grading.exercises.exercise import Family, wrapped

reshaped_keys = Family(
    "reshaped-not-transposed",
    "reshapes_the_keys",
    "You reshape {what} (`view`, `reshape`) where you should transpose. The shape comes out right, but the "
    "numbers stay in their order, so that a column holds pieces of several {what}.",
    words={"what": "keys"},
)
view_of_strided = Family(
    "view-of-strided",
    "by_view",
    "`view` fails where the numbers are not contiguous in memory, as after a `transpose`. `reshape` copies them "
    "where it must.",
)
squeezed = Family(
    "squeezed",
    "squeezes",
    "`squeeze()` without a dimension removes every dimension of size 1, also one of the batch. Say which one to "
    "remove, such as `squeeze(-1)`.",
)
result_squeezed = squeezed.made_by(wrapped("return right(*args, **kwargs).squeeze()"))
all_dimensions_reversed = Family(
    "all-dimensions-reversed",
    "reverses_all_dimensions",
    "`{what}.T` reverses all dimensions, the batch included. Swap only the last two: `mT`, or `transpose(-2, -1)`.",
    words={"what": "keys"},
)
one_batch_dimension = Family(
    "one-batch-dimension",
    "names_one_batch_dimension",
    "Your einsum has one letter for the batch, so it takes exactly one batch dimension. Write `...` instead, "
    "which stands for any number of them, or none.",
)
first_dimension = Family(
    "wrong-dimension",
    "works_along_dimension_0_by_default",
    "Without `dim` you work along the first dimension. The default is the last one, `dim=-1`.",
)
dimension_ignored = Family(
    "dim-ignored",
    "ignores_dim",
    "You ignore `dim` and always work along the last dimension.",
)
dimensions_from_the_front = Family(
    "wrong-dimension",
    "counts_dimensions_from_the_front",
    "This is right for one sentence only. In a batch the softmax runs along the wrong dimension: count "
    "dimensions from the end.",
)
dimension_lost = Family(
    "keepdim-missing",
    "forgets_keepdim",
    "A maximum or a sum that has lost its dimension does not broadcast with the rows that it came from: `(4, 6)` and "
    "`(4,)` do not fit. Keep the dimension with `keepdim=True`.",
)
dimension_kept = Family(
    "extra-dimension",
    "keeps_a_dimension",
    "The {what} has a last dimension of size 1. Its shape must be {shape}.",
    words={"what": "log-sum-exp", "shape": "(..., T), one number per query"},
)
rows_and_columns_exchanged = Family(
    "rows-and-columns-exchanged",
    "exchanges_rows_and_columns",
    "Rows and columns are exchanged: rows are queries, columns are keys.",
)
classes_reshaped = Family(
    "reshaped-not-transposed",
    "scrambles_the_classes",
    "You exchange classes and positions by reshaping (`view`, `reshape`). That leaves the numbers in their order and "
    "mixes logits of several positions. Which operation exchanges two dimensions?",
)
