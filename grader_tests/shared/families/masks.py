"""Masks, and windows of keys."""

from grading.exercises.exercise import Family

inverted = Family(
    "mask-inverted",
    "inverts_the_mask",
    "You invert the mask. True means blocked.",
)
ignored = Family("mask-ignored", "ignores_the_mask", "You do not use the mask, so it changes nothing.")
lost = Family(
    "mask-lost",
    "loses_the_mask_in_training",
    "You use the mask, but not {when}. A blocked position is blocked in every mode and for any number of heads.",
    words={"when": "in training mode"},
)
after_softmax = Family(
    "mask-after-softmax",
    "masked_after_the_softmax",
    "You set blocked weights to 0 after the softmax, so the others no longer sum to 1. Block the scores instead.",
)
needed = Family(
    "mask-needed",
    "needs_a_mask",
    "Your function fails without a mask. `mask` is None by default, and then nothing is blocked.",
)
truth_value = Family(
    "mask-truth",
    "asks_whether_the_mask_is_true",
    "You test the truth value of the mask (`if mask`), but a tensor with many entries has none. Test `mask is None`.",
)
causal_by_default = Family(
    "causal-by-default",
    "causal_by_default",
    "You block the future when there is no mask. `mask=None` blocks nothing.",
)
of_numbers = Family(
    "mask-of-numbers",
    "zeros_and_ones",
    "Your mask has the wrong dtype, although its entries are right. A mask is boolean, so that `~`, `|` and "
    "`masked_fill` work.",
)
to_add = Family(
    "mask-to-add",
    "a_mask_to_add",
    "You return a mask of 0 and −∞, to add to the scores. Here a mask is boolean: True means blocked.",
)
blocked_by_number = Family(
    "blocked-by-number",
    "fills_with_a_number",
    "You set blocked scores to a finite number such as −1e9. Other scores can be lower still, and in a fully "
    "masked row all keys become equal.",
)
blocked_by_small_number = Family(
    "blocked-by-zero",
    "fills_with_next_to_nothing",
    "You set blocked scores to 0, or to a number near it such as −1e-12. Such a score has a weight, too. "
    "If you meant 1e12, check the sign of the exponent.",
)
blocked_rows_nan = Family(
    "blocked-rows-nan",
    "leaves_blocked_rows_nan",
    "A fully masked row becomes NaN, because its softmax contains only −∞. Its weights must be 0.",
)
blocked_rows_equal = Family(
    "blocked-rows-equal",
    "spreads_blocked_rows_evenly",
    "A fully masked row gets equal weights, because all its scores are the same large negative number. Its weights "
    "must be 0.",
)
added = Family(
    "mask-added",
    "adds_the_mask",
    "You add the mask to the scores, so a blocked score becomes greater by 1. Its weight must be 0.",
)
next_key_open = Family(
    "next-key-open",
    "opens_the_next_key",
    "You let each query see one key after it. The diagonal is one position too far to the right.",
)
diagonal_blocked = Family(
    "diagonal-blocked",
    "blocks_the_diagonal",
    "You block the diagonal too. Each query may see its own position.",
)
aligned_at_the_start = Family(
    "aligned-at-the-start",
    "aligned_at_the_start",
    "You align queries and keys at their start instead of their end. The queries are the last T of the S positions.",
)
one_key_too_many = Family(
    "window-off-by-one",
    "one_key_too_many",
    "Your window is one key too wide. The query's own position counts too.",
)
one_key_too_few = Family(
    "window-off-by-one",
    "one_key_too_few",
    "Your window is one key too narrow. With a window of 1 each query still sees itself.",
)
