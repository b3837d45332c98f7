"""Known mistakes in `centre`."""

from ...shared.families import arguments, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import centre

BUG = "Is it a bug? It runs, so it is right"

right = centre.reference_answer("""
def centre(x):
    return x - x.mean(-1, keepdim=True)
""")

right.mistake("mean_of_everything", {"x.mean(-1, keepdim=True)": "x.mean()"}, loses="every row").feedback(
    "You take one mean of all numbers away from every row. Each row has a mean of its own."
)
right.mistake("columns", {"x.mean(-1,": "x.mean(0,"}, loses=("every row", "one row, or")).feedback(
    "Each *column* has the mean 0 now, not each row. Rows run along the last dimension, `dim=-1`; `dim=0` goes down "
    "the columns."
)
right.mistake("no_keepdim", {"x.mean(-1, keepdim=True)": "x.mean(-1)"}, loses=("every row", "one row, or")).feedback(
    "The means lost a dimension: as `(T,)` they are read as a row and taken from the columns, or fit nothing at all. "
    "With `keepdim=True` they are `(T, 1)`, which lines up with the rows.",
    see=BUG,
)
right.mistake("dim_1", {"x.mean(-1,": "x.mean(1,"}, loses="one row, or").feedback(
    "You take the mean along dimension 1. In a tensor of two dimensions that is the last one, in others it is not: "
    "`dim=-1` counts from the end."
)
right.mistake(
    "mean_less_x", {"x - x.mean(-1, keepdim=True)": "x.mean(-1, keepdim=True) - x"}, loses="every row"
).feedback("Every sign is wrong: you take the numbers away from their mean, not the mean away from the numbers.")
right.mistake("takes_the_sum", {"mean(": "sum("}, loses="every row").feedback(
    "You take away the *sum* of each row. The mean is the sum divided by how many numbers there are."
)
right.mistake(
    "takes_the_median", {"mean(-1, keepdim=True)": "median(-1, keepdim=True).values"}, loses="every row"
).feedback("That is the median, the number in the middle. The mean is the sum divided by how many numbers there are.")
right.mistake("only_the_mean", {"x - x.mean": "x.mean"}, loses="every row").feedback(
    "These are the means themselves. Asked for is what is left of each row when its mean is taken away."
)
right.mistake("divides_by_the_spread", loses="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0).clamp(min=1e-6)
""").feedback("Each row was divided by its standard deviation as well. Here only the mean is taken away.")
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
).feedback(
    "You divide the sum of each row by `len(x)`, the number of rows. A row has `x.shape[-1]` entries: divide by that, "
    "or use `mean`."
)
right.mistake(
    "divides_without_remainder",
    {"x.mean(-1, keepdim=True)": "x.sum(-1, keepdim=True) // x.shape[-1]"},
    loses="every row",
).feedback("`//` rounds down, so the mean becomes a whole number and has no gradient. Divide with `/`.")
right.mistake(
    "inserts_dimension_1", {"x.mean(-1, keepdim=True)": "x.mean(-1).unsqueeze(1)"}, loses="one row, or"
).feedback(
    "You put the dimension of the means back as dimension 1. That is the last one only in a tensor of two dimensions: "
    "`unsqueeze(-1)`, or `keepdim=True`, works for any."
)
centre.mistake("loops_over_the_rows", loses="one row, or").full_code("""
def centre(x):
    out = x.clone()
    for i in range(len(x)):
        out[i] = x[i] - x[i].mean()
    return out
""").feedback(
    "Your loop takes each `x[i]` for a row. That holds for two dimensions only; with one, `x[i]` is a number, with "
    "three it is a matrix. `x.mean(-1, keepdim=True)` works for any."
)
right.mistake("leaves_it", {"x - x.mean(-1, keepdim=True)": "1 * x"}, loses="every row").feedback(
    "The rows come back as they were: the mean is not subtracted, or the result of the subtraction is not returned."
)
right.mistake("subtracts_it_twice", {"x.mean(-1": "2 * x.mean(-1"}, loses="every row").feedback(
    "You subtract the mean twice, so every row has minus its old mean. Subtract it once."
)
centre.mistake(arguments.argument_changed("changes_the_rows"), loses=("x itself", "one row, or")).full_code("""
def centre(x):
    for row in x:
        row -= row.mean()
    return x
""").feedback(
    "`row -= …` writes into `x` itself, since a row is a view of it. And your loop finds the rows only if `x` has two "
    "dimensions. `x.mean(-1, keepdim=True)` works for any shape, and `-` makes a new tensor."
)
right.mistake("adds_the_mean", {"x - x.mean": "x + x.mean"}, loses="every row").feedback(
    "You add the mean of each row. Subtract it."
)
right.mistake("divides_by_one_less", loses="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return x - x.sum(-1, keepdim=True) / max(1, x.shape[-1] - 1)
""").feedback("You divide the sum by one less than there are numbers. The mean divides by all of them.")
right.mistake(
    "divides_by_shape_1", {"x.mean(-1, keepdim=True)": "x.sum(-1, keepdim=True) / x.shape[1]"}, loses="one row, or"
).feedback(
    "`x.shape[1]` is the length of a row only if `x` has two dimensions. `x.shape[-1]` counts from the end, and works "
    "for any."
)
right.mistake(
    "turns_the_matrix", {"x - x.mean(-1, keepdim=True)": "(x.T - x.mean(-1)).T"}, loses="one row, or"
).feedback(
    "You transpose so that the means line up, which works for two dimensions only. With `keepdim=True` they line up in "
    "any tensor."
)
