"""Known mistakes in `centre`."""

from ...shared.repeating import keeps_its_last_result
from .contract import centre

BUG = "Is it a bug? It runs, so it is right"

right = centre.base("""
def centre(x):
    return x - x.mean(-1, keepdim=True)
""")

right.mistake("mean_of_everything", {"x.mean(-1, keepdim=True)": "x.mean()"}, shows="every row").says(
    "You take one mean of all numbers away from every row. Each row has a mean of its own."
)
right.mistake("columns", {"x.mean(-1,": "x.mean(0,"}, shows=("every row", "one row, or")).says(
    "Each *column* has the mean 0 now, not each row. Rows run along the last dimension, `dim=-1`; `dim=0` goes down "
    "the columns."
)
right.mistake("no_keepdim", {"x.mean(-1, keepdim=True)": "x.mean(-1)"}, shows=("every row", "one row, or")).says(
    "The means lost a dimension: as `(T,)` they are read as a row and taken from the columns, or fit nothing at all. "
    "With `keepdim=True` they are `(T, 1)`, which lines up with the rows.",
    see=BUG,
)
right.mistake("dim_1", {"x.mean(-1,": "x.mean(1,"}, shows="one row, or").says(
    "You take the mean along dimension 1. In a tensor of two dimensions that is the last one, in others it is not: "
    "`dim=-1` counts from the end."
)
right.mistake("mean_less_x", {"x - x.mean(-1, keepdim=True)": "x.mean(-1, keepdim=True) - x"}, shows="every row").says(
    "Every sign is wrong: you take the numbers away from their mean, not the mean away from the numbers."
)
right.mistake("takes_the_sum", {"mean(": "sum("}, shows="every row").says(
    "You take away the *sum* of each row. The mean is the sum divided by how many numbers there are."
)
right.mistake(
    "takes_the_median", {"mean(-1, keepdim=True)": "median(-1, keepdim=True).values"}, shows="every row"
).says("That is the median, the number in the middle. The mean is the sum divided by how many numbers there are.")
right.mistake("only_the_mean", {"x - x.mean": "x.mean"}, shows="every row").says(
    "These are the means themselves. Asked for is what is left of each row when its mean is taken away."
)
right.mistake("divides_by_the_spread", shows="every row").patch("""
- return x - x.mean(-1, keepdim=True)
+ return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, correction=0).clamp(min=1e-6)
""").says("Each row was divided by its standard deviation as well. Here only the mean is taken away.")
right.mistake(
    "detached_mean", {"x.mean(-1, keepdim=True)": "x.mean(-1, keepdim=True).detach()"}, shows="gradients"
).says("The numbers are right and the gradient is not: the mean was detached, but it changes, too, when `x` does.")
right.mistake("detaches", {"x - x.mean(-1": "x.detach() - x.detach().mean(-1"}, shows="gradients").says(
    "The numbers are right, and no gradient comes back: `detach`, `.data`, NumPy and `torch.tensor(…)` "
    "all cut the trail."
)
centre.mistake("changes_x", shows=("x itself", "gradients")).whole("""
def centre(x):
    x = x.detach()
    x -= x.mean(-1, keepdim=True)
    return x
""").says("Your function changes the caller's own tensor: `x -= …` works in place, and `x - …` makes a new one.")
right.mistake("always_float32", {"x - x.mean": "x.float() - x.float().mean"}, shows="float64").says(
    "The result is always float32. Let it have the dtype of `x`."
)
keeps_its_last_result(right, shows="every row")
