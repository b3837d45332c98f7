"""Lesson 06: split and merge heads, the layers of a module, its `forward`; extras: PyTorch's weights, parameters."""

EXERCISES = ("split_heads", "merge_heads", "HeadLayers", "MultiHeadAttention")
STEPS = ("load_torch_weights", "count_parameters")
