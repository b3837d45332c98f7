"""Lesson 06: split and merge heads, a module, PyTorch's weights, numbers of parameters."""

EXERCISES = ("split_heads", "merge_heads", "MultiHeadAttention", "load_torch_weights", "count_parameters")
STEPS = (
    "attend",
    "heads_by_loop",
    "addresses",
    "multi_head",
    "multi_head_by_einsum",
    "AttentionLayer",
    "share_back",
    "silence",
    "shuffle_error",
    "value_output_matrices",
)
