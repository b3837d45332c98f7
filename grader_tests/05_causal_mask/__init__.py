"""Lesson 05: causal and padding masks, masked softmax and attention, a leak detector."""

EXERCISES = ("causal_mask", "padding_mask", "masked_softmax", "masked_attention", "sees_the_future")
STEPS = (
    "decoder_mask",
    "fill_and_softmax",
    "additive_mask",
    "who_sees_whom",
    "repeatable",
    "accuracy_by_position",
    "sliding_window",
)
