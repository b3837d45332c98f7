"""Lesson 06: heads are split and merged, put into a module, given PyTorch's weights, and counted."""

EXERCISES = ("split_heads", "merge_heads", "MultiHeadAttention", "load_torch_weights", "count_parameters")
CHALLENGES = ("value_output_matrices",)
