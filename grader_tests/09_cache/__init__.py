"""Lesson 09: a KV cache and its size, attention with it, windows, grouped queries."""

EXERCISES = (
    "cache_bytes",
    "append_to_cache",
    "attend_with_cache",
    "generate_with_cache",
    "sliding_window_mask",
    "mean_heads",
    "GroupedQueryAttention",
)
CHALLENGES = ("speculate",)
