"""Masks, and windows of keys."""

from grading.exercises.exercise import Family

inverted = Family(
    "mask-inverted",
    "inverts_the_mask",
    "The mask is inverted: True means blocked.",
)
ignored = Family("mask-ignored", "ignores_the_mask", "The mask changes nothing: you never use it.")
lost = Family(
    "mask-lost",
    "loses_the_mask_in_training",
    "You use the mask, but not {when}. What is blocked is blocked in every mode and for any number of heads.",
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
    "Without a mask your function fails. `mask` is None by default, and then nothing is blocked.",
)
truth_value = Family(
    "mask-truth",
    "asks_whether_the_mask_is_true",
    "You ask whether the mask is true (`if mask`). A tensor of many entries is neither true nor false: ask `mask "
    "is None`.",
)
causal_by_default = Family(
    "causal-by-default",
    "causal_by_default",
    "Without a mask you block the future. `mask=None` blocks nothing.",
)
of_numbers = Family(
    "mask-of-numbers",
    "zeros_and_ones",
    "The mask has the right cells but the wrong type. A mask is boolean, so that `~`, `|` and `masked_fill` work.",
)
to_add = Family(
    "mask-to-add",
    "a_mask_to_add",
    "This is a mask to add to scores, of 0 and −∞. Here a mask is boolean: True means blocked.",
)
blocked_by_number = Family(
    "blocked-by-number",
    "fills_with_a_number",
    "You set blocked scores to a number such as −1e9. Other scores can be lower still, and in a fully blocked "
    "row all keys become equal.",
)
blocked_by_small_number = Family(
    "blocked-by-zero",
    "fills_with_next_to_nothing",
    "You set blocked scores to 0, or to a number near it such as −1e-12 (did you mean 1e12?). A score of 0 is a "
    "score like any other: its weight is not 0.",
)
blocked_rows_nan = Family(
    "blocked-rows-nan",
    "leaves_blocked_rows_nan",
    "A fully blocked row is NaN: its softmax has nothing but −∞. Its weights must be 0.",
)
blocked_rows_equal = Family(
    "blocked-rows-equal",
    "spreads_blocked_rows_evenly",
    "A fully blocked row gets equal weights, because all its scores are the same large negative number. Its "
    "weights must be 0.",
)
added = Family(
    "mask-added",
    "adds_the_mask",
    "You add the mask to the scores as it is, so that a blocked score becomes greater by 1. Its weight must be 0.",
)
next_key_open = Family(
    "next-key-open",
    "opens_the_next_key",
    "Each query still sees one key after it: the diagonal is one position too far to the right.",
)
diagonal_blocked = Family(
    "diagonal-blocked",
    "blocks_the_diagonal",
    "You block the diagonal too. Each query may see its own position.",
)
aligned_at_the_start = Family(
    "aligned-at-the-start",
    "aligned_at_the_start",
    "Queries and keys start together. They must end together: the queries are the last T of the S positions.",
)
one_key_too_many = Family(
    "window-off-by-one",
    "one_key_too_many",
    "The window is one key too wide: the query's own position counts, too.",
)
one_key_too_few = Family(
    "window-off-by-one",
    "one_key_too_few",
    "The window is one key too narrow: with a window of 1 each query still sees itself.",
)
