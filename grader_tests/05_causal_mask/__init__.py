"""Lesson 05: causal masks, masked softmax and attention, padding, a leak detector."""

EXERCISES = ("causal_mask", "masked_attention", "last_queries_mask", "sees_the_future")
STEPS = ("masked_softmax", "padding_mask")
