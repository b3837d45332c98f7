"""Lesson 04: scaled attention, and dropout on its weights."""

EXERCISES = ("scaled_dot_product_attention", "ScaledDotProductAttention")
STEPS = ("drop", "scale_for_entropy")
