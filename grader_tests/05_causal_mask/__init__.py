"""Lesson 05: masks against the future and against padding, softmax and attention under a mask, a leak detector."""

EXERCISES = ("causal_mask", "padding_mask", "masked_softmax", "masked_attention", "sees_the_future")
CHALLENGES = ("sliding_window",)
