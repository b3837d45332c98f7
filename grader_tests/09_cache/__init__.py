"""Lesson 09: a KV cache and its size, attention with it, a model that writes from it, windows, grouped queries."""

EXERCISES = (
    "cache_bytes",
    "append_to_cache",
    "attend_with_cache",
    "generate_with_cache",
    "sliding_window_mask",
    "mean_heads",
    "GroupedQueryAttention",
)
STEPS = (
    "layer_products",
    "write_to_cache",
    "step_bytes",
    "write_rolling",
    "shared_scores",
    "mixed_cache_bytes",
    "speculate",
)
