"""Known mistakes in `wanted_scores`."""

from .contract import wanted_scores

right = wanted_scores.alternative("zeros_and_an_index")

right.mistake("one_score_per_entry", {"len(keys)": "keys.shape[1]"}).feedback(
    "You make one score per entry of a key. There is one score per key: `len(keys)` of them."
)
right.mistake("scores_for_the_targets_only", {"return scores": "return scores[targets]"}).feedback(
    "You return scores for the targets only. The other keys need a score, too: 0."
)
right.mistake("counts_targets_from_one", {"scores[targets]": "scores[[target - 1 for target in targets]]"}).feedback(
    "You count the targets from 1, so each target's neighbour gets the score. Indices count from 0."
)
right.mistake("always_float32", {"keys.new_zeros(len(keys))": "torch.zeros(len(keys))"}).feedback(
    "Your scores are float32 even for float64 keys. Give them the dtype of the keys, as `keys.new_zeros(...)` does."
)
right.mistake("divides_the_score_among_the_targets", {"= high": "= high / len(targets)"}).feedback(
    "You divide the score among the targets. Each target gets the whole of `high`; softmax divides the weight."
)
right.mistake("high_everywhere", {"scores[targets] = high": "scores[:] = high"}).feedback(
    "You give every key the high score, so softmax gives all the same weight. Only the targets get it."
)
right.mistake(
    "all_targets_and_what_is_between", {"scores[targets]": "scores[min(targets) : max(targets) + 1]"}
).feedback("You give the high score to all keys from the first target to the last. The list names single keys.")
right.mistake("one_for_each_target", {"= high": "= 1.0"}).feedback(
    "You give the targets the score 1. Give them `high`: a difference of 1 is only a factor of e."
)
