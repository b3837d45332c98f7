"""Known mistakes in `accuracy_by_position`."""

from .contract import accuracy_by_position

right = accuracy_by_position.alternative("by_comparing")

right.mistake("averages_over_everything", {"mean(dim=0)": "mean()"}).feedback(
    "You average over everything, which gives one number. Average only over the sentences, dimension 0."
)
right.mistake("averages_over_positions", {"mean(dim=0)": "mean(dim=1)"}).feedback(
    "You average over positions, which gives one number per sentence. Average over the sentences, dimension 0."
)
right.mistake("counts", {"mean(dim=0)": "sum(dim=0)"}).feedback(
    "You count the right predictions. Divide by the number of sentences."
)
right.mistake("takes_the_lowest", {"argmax": "argmin"}).feedback(
    "You take the token with the *lowest* logit. The prediction is the one with the highest."
)
right.mistake("takes_the_error_rate", {"== targets": "!= targets"}).feedback(
    "You return the share of *wrong* predictions."
)
right.mistake("takes_the_argmax_over_positions", {"dim=-1": "dim=1"}).feedback(
    "You look for the best *position*. The tokens are the last dimension of the logits: `argmax(-1)`."
)
