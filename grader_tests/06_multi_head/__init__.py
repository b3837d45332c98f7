"""Lesson 06: split and merge heads, a module, PyTorch's weights, numbers of parameters."""

EXERCISES = ("split_heads", "merge_heads", "MultiHeadAttention", "load_torch_weights", "count_parameters")
CHALLENGES = ("value_output_matrices",)
