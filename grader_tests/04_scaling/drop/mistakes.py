"""Known mistakes in `drop`."""

from .contract import drop

right = drop.alternative("by_multiplication")

right.mistake("does_not_divide", {" / (1 - p)": ""}).feedback(
    "Your survivors are not enlarged, so on average every weight shrinks. Divide by the probability of being kept."
)
right.mistake("divides_by_the_dropped_share", {"(1 - p)": "max(p, 1e-6)"}).feedback(
    "You divide by the probability of being *dropped*. Divide by that of being kept, 1 − p."
)
right.mistake("multiplies_by_the_kept_share", {"/ (1 - p)": "* (1 - p)"}).feedback(
    "You multiply by 1 − p, so the weights shrink twice. Divide by it."
)
right.mistake("keeps_the_dropped", {"weights * kept": "weights * ~kept"}).feedback(
    "You keep the weights that should be dropped. `kept` is True for those that survive."
)
right.mistake("makes_the_sum_1", {"/ (1 - p)": "/ (weights * kept).sum(-1, keepdim=True).clamp_min(1e-9)"}).feedback(
    "You divide each row by its own sum. Divide by 1 − p, a fixed number: sums of 1 are right only on average."
)
right.mistake("draws_again", {"weights * kept": "torch.nn.functional.dropout(weights, p) * (1 - p)"}).feedback(
    "You draw at random again. Which weights survive is given: use `kept`."
)
right.mistake("keeps_only_the_survivors", {"weights * kept": "weights[kept]"}).feedback(
    "You leave the dropped weights out, so the shape changes. They become 0 and stay in their positions."
)
right.mistake(
    "divides_by_the_number_kept", {"(1 - p)": "kept.float().mean(-1, keepdim=True).clamp_min(1e-9)"}
).feedback(
    "You divide by the share that happens to be kept in this row. Divide by the probability of being kept, 1 − p."
)
