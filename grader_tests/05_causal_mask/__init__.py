"""Lesson 05: causal and padding masks, masked softmax and attention, a leak detector."""

EXERCISES = ("causal_mask", "padding_mask", "masked_softmax", "masked_attention", "sees_the_future")
CHALLENGES = ("sliding_window",)
