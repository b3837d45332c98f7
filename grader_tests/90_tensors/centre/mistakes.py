"""Known mistakes in `centre`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import centre

BUG = "Predict: a mean without `keepdim`"

right = centre.reference_answer("""
def centre(x):
    return x - x.mean(-1, keepdim=True)
""")

right.mistake("mean_of_everything", {"x.mean(-1, keepdim=True)": "x.mean()"}, loses="every row").feedback(
    "You subtract the mean of all numbers from every row. Each row has its own mean."
)
right.mistake("columns", {"x.mean(-1,": "x.mean(0,"}, loses=("every row", "one row, or")).feedback(
    "You make the mean of each *column* 0. Rows run along the last dimension, `dim=-1`; `dim=0` runs down the columns."
)
right.mistake("no_keepdim", {"x.mean(-1, keepdim=True)": "x.mean(-1)"}, loses=("every row", "one row, or")).feedback(
    "The means have lost a dimension, so they do not line up with the rows. As `(T,)` they are subtracted from the "
    "columns, or do not broadcast at all. `keepdim=True` makes them `(T, 1)`.",
    see=BUG,
)
right.mistake("dim_1", {"x.mean(-1,": "x.mean(1,"}, loses="one row, or", clause="leading").feedback(
    "You take the mean along dimension 1, which is the last only if there are two. `dim=-1` counts from the end."
)
right.mistake(
    "mean_less_x", {"x - x.mean(-1, keepdim=True)": "x.mean(-1, keepdim=True) - x"}, loses="every row"
).feedback("You subtract each row from its mean, so every sign is wrong. Subtract the mean from the row.")
right.mistake("takes_the_sum", {"mean(": "sum("}, loses="every row").feedback(
    "You subtract the *sum* of each row. Its mean is the sum divided by the number of entries."
)
right.mistake(
    "takes_the_median", {"mean(-1, keepdim=True)": "median(-1, keepdim=True).values"}, loses="every row"
).feedback("You subtract the median of each row. The mean is the sum divided by the number of entries.")
right.mistake("only_the_mean", {"x - x.mean": "x.mean"}, loses="every row").feedback(
    "You return the means themselves. Return each row minus its mean."
)
right.mistake("divides_by_the_spread", loses="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0).clamp(min=1e-6)
""").feedback("You also divide each row by its standard deviation. Here only the mean is subtracted.")
right.mistake(gradients.treated_as_constant(what="the mean", of="`x`"), loses="gradients").patch("""
- return x - x.mean(-1, keepdim=True)
+ return x - x.mean(-1, keepdim=True).detach()
""")
right.mistake(gradients.cut(what="`x`"), {"x - x.mean(-1": "x.detach() - x.detach().mean(-1"}, loses="gradients")
centre.mistake(arguments.argument_changed(what="`x`"), loses=("x itself", "gradients")).full_code("""
def centre(x):
    x = x.detach()
    x -= x.mean(-1, keepdim=True)
    return x
""")
right.mistake(numbers.always_float32(of="`x`"), {"x - x.mean": "x.float() - x.float().mean"}, loses="float64")
keeps_its_last_result(right, loses="every row")
right.mistake(shapes.result_squeezed, loses="one row, or")
right.mistake("divides_by_the_sample_spread", loses="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)
""").feedback("You also divide each row by its standard deviation. Here only the mean is subtracted.")
right.mistake(
    "subtracts_an_extreme", {"x.mean(-1, keepdim=True)": "x.EXTREME(-1, keepdim=True)"}, loses="every row"
).for_each(EXTREME=("amax", "amin")).feedback(
    "You subtract the largest or the smallest entry of each row. Subtract its mean."
)
right.mistake(
    "divides_by_the_number_of_rows", {"x.mean(-1, keepdim=True)": "x.sum(-1, keepdim=True) / len(x)"}, loses="every row"
).feedback("You divide the sum of each row by `len(x)`, the number of rows. Divide by `x.shape[-1]`, or use `mean`.")
right.mistake(
    "divides_without_remainder",
    {"x.mean(-1, keepdim=True)": "x.sum(-1, keepdim=True) // x.shape[-1]"},
    loses="every row",
).feedback("You divide with `//`, so the mean is rounded down and has no gradient. Divide with `/`.")
right.mistake(
    "inserts_dimension_1", {"x.mean(-1, keepdim=True)": "x.mean(-1).unsqueeze(1)"}, loses="one row, or"
).feedback(
    "You restore the dimension of the means as dimension 1, which is right only if `x` has two. `unsqueeze(-1)` or "
    "`keepdim=True` works for any number."
)
centre.mistake("loops_over_the_rows", loses="one row, or").full_code("""
def centre(x):
    out = x.clone()
    for i in range(len(x)):
        out[i] = x[i] - x[i].mean()
    return out
""").feedback(
    "Your loop treats each `x[i]` as a row, which is right only if `x` has two dimensions: with one it is a number, "
    "with three a matrix. `x.mean(-1, keepdim=True)` works for any number."
)
right.mistake("leaves_it", {"x - x.mean(-1, keepdim=True)": "1 * x"}, loses="every row").feedback(
    "You return the rows unchanged: you do not subtract the mean, or do not return the result."
)
right.mistake("subtracts_it_twice", {"x.mean(-1": "2 * x.mean(-1"}, loses="every row").feedback(
    "You subtract the mean twice, so the new mean of each row is minus the old one. Subtract it once."
)
centre.mistake(arguments.argument_changed("changes_the_rows"), loses=("x itself", "one row, or")).full_code("""
def centre(x):
    for row in x:
        row -= row.mean()
    return x
""").feedback(
    "You change `x` itself: `row -= …` writes into it, because `row` is a view of `x`. The loop also finds rows only "
    "if `x` has two dimensions. `x.mean(-1, keepdim=True)` works for any, and `-` makes a new tensor."
)
right.mistake("adds_the_mean", {"x - x.mean": "x + x.mean"}, loses="every row").feedback(
    "You add the mean of each row instead of subtracting it."
)
right.mistake("divides_by_one_less", loses="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return x - x.sum(-1, keepdim=True) / max(1, x.shape[-1] - 1)
""").feedback("You divide the sum by one less than the number of entries. Divide by that number.")
right.mistake(
    "divides_by_shape_1", {"x.mean(-1, keepdim=True)": "x.sum(-1, keepdim=True) / x.shape[1]"}, loses="one row, or"
).feedback(
    "You take the length of a row from `x.shape[1]`, which is right only if `x` has two dimensions. `x.shape[-1]` "
    "counts from the end."
)
right.mistake(
    "turns_the_matrix", {"x - x.mean(-1, keepdim=True)": "(x.T - x.mean(-1)).T"}, loses="one row, or"
).feedback(
    "You transpose to line up the means, which works only if `x` has two dimensions. `keepdim=True` works for any."
)
centre.mistake(numbers.default_device(what="the result", where="`x`"), loses="float64", clause="device").full_code("""
def centre(x):
    out = torch.zeros(x.shape, dtype=x.dtype)
    out += x - x.mean(-1, keepdim=True)
    return out
""")
