"""Known mistakes in `shuffle_error`."""

from .contract import shuffle_error

right = shuffle_error.alternative("reorder_the_first")

right.mistake("does_not_reorder", {"output[:, order]": "output"}).feedback(
    "You compare the two outputs as they are. The second belongs to shuffled words: shuffle the first in the same way."
)
right.mistake(
    "reorders_the_shuffled_one", {"output[:, order] - output_of_shuffled": "output - output_of_shuffled[:, order]"}
).feedback("You shuffle the second output once more, which does not undo the first time. Shuffle `output` instead.")
right.mistake("reorders_the_batch", {"output[:, order]": "output[order % len(output)][: len(output)]"}).feedback(
    "You reorder the sentences. The words are dimension 1: `output[:, order]`."
)
right.mistake("takes_the_mean", {"max()": "mean()"}).feedback(
    "You take the mean difference. A few wrong entries hardly change it: take the largest."
)
right.mistake("forgets_the_sign", {".abs()": ""}).feedback(
    "You take the largest *signed* difference, so a large negative one goes unnoticed. Take absolute values first."
)
right.mistake("returns_all_differences", {".abs().max()": ".abs()"}).feedback(
    "You return every difference. Return the largest one."
)
