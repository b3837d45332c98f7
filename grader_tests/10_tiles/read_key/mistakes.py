"""Known mistakes in `read_key`."""

from .contract import read_key

right = read_key.alternative("two_factors")

right.mistake("never_shrinks", {"total * shrink": "total", "weighted * shrink": "weighted"}).feedback(
    "The sums so far were computed with the old maximum. Multiply both by `exp(old - new)` before you add."
)
right.mistake("shrinks_only_the_sum", {"weighted * shrink": "weighted"}).feedback(
    "You shrink the sum, but not the weighted sum of values. Both were computed with the old maximum."
)
right.mistake("shrinks_only_the_values", {"total * shrink": "total"}).feedback(
    "You shrink the weighted sum of values, but not the sum. Both were computed with the old maximum."
)
right.mistake("shrinks_the_new_part", {"total * shrink + added": "(total + added) * shrink"}).feedback(
    "You shrink the new key's part, too. It is computed with the new maximum already."
)
right.mistake("grows", {"highest - new": "new - highest"}).feedback(
    "Your factor is above 1. The old sums shrink by `exp(old - new)`, which is at most 1."
)
right.mistake("keeps_the_old_maximum", {"return new,": "return highest,"}).feedback(
    "You return the old maximum. The sums that you return are computed with the new one."
)
right.mistake("takes_the_score_for_the_maximum", {"torch.maximum(highest, score)": "score"}).feedback(
    "A smaller score does not replace the maximum. Take the larger of both."
)
right.mistake("takes_the_smaller_one", {"torch.maximum": "torch.minimum"}).feedback(
    "You take the smaller of both. With it, the exponential of a large score overflows."
)
right.mistake("adds_the_value_unweighted", {"added * value": "value"}).feedback(
    "The new value is added without its factor, `exp(score - new)`."
)
right.mistake("counts_the_keys", {"total * shrink + added": "total * shrink + 1"}).feedback(
    "You add 1 for each key. Only a key that has the largest score adds 1; in general it is `exp(score - new)`."
)
right.mistake("divides_each_time").patch("""
- return new, total * shrink + added, weighted * shrink + added * value
+ total = total * shrink + added
+ return new, total, (weighted * shrink + added * value) / total
""").feedback("You divide by the sum already. The weighted sum is kept undivided; the output is divided at the end.")
right.mistake("subtracts_no_maximum", {"torch.exp(score - new)": "torch.exp(score)"}).feedback(
    "You take `exp` of the score itself, which overflows. Subtract the new maximum first."
)
