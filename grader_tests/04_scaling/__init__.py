"""Lesson 04: the spread of scores, softmax's gradient, scaled attention, dropout."""

EXERCISES = ("score_std", "softmax_gradient_norm", "scaled_dot_product_attention", "ScaledDotProductAttention")
STEPS = ("nudged", "exponent", "look_up", "half_precision_scores", "drop", "scale_for_entropy")
