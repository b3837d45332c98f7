"""Lesson 06: heads are split and merged, put into a module, given PyTorch's weights, and counted.

The mistakes of `MultiHeadAttention` are small changes to one class, `Template`: each overrides the one step that it
gets wrong, so that it differs from a right answer in nothing else."""

EXERCISES = ("split_heads", "merge_heads", "MultiHeadAttention", "load_torch_weights", "count_parameters")
