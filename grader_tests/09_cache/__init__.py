"""Lesson 09: what a key-value cache holds and costs, attention with one, windows, and fewer keys than queries."""

EXERCISES = (
    "cache_bytes",
    "append_to_cache",
    "attend_with_cache",
    "sliding_window_mask",
    "mean_heads",
    "GroupedQueryAttention",
)
CHALLENGES = ("speculate",)
