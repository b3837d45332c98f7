"""Lesson 04: how widely scores spread, softmax's gradient, scaled attention, and its module with dropout."""

EXERCISES = ("score_std", "softmax_gradient_norm", "scaled_dot_product_attention", "ScaledDotProductAttention")
CHALLENGES = ("scale_for_entropy",)
