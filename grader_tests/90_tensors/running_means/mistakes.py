"""Known mistakes in `running_means`."""

from .contract import running_means

right = running_means.reference_answer("""
def running_means(x):
    so_far = (torch.arange(len(x)) <= torch.arange(len(x))[:, None]).float()
    return so_far / so_far.sum(-1, keepdim=True) @ x
""")

right.mistake("adds_up", {" / so_far.sum(-1, keepdim=True)": ""}).feedback(
    "You return running sums. Turn each row of the staircase into shares first."
)
right.mistake("looks_ahead", {"<=": ">="}).feedback(
    "Row `i` is the mean of the rows from `i` on. It should be the mean of the rows up to `i`."
)
right.mistake(
    "takes_the_mean_of_all", {"so_far / so_far.sum(-1, keepdim=True) @ x": "x.mean(0).expand(x.shape)"}
).feedback("Every row is the mean of all rows. Row `i` should use only rows 0 to `i`.")
right.mistake("shares_columns", {".sum(-1,": ".sum(0,"}).feedback(
    "The columns of your staircase sum to 1. Its rows should, because each row mixes the rows of `x`."
)
right.mistake("leaves_itself_out", {"<=": "<"}).feedback(
    "Row `i` uses only the rows before `i`. It should include row `i` itself; row 0 is NaN because nothing is left."
)
right.mistake("divides_by_the_length", {"so_far.sum(-1, keepdim=True)": "len(x)"}).feedback(
    "You divide every row by the number of all rows. Row `i` is a mean of `i + 1` rows."
)
