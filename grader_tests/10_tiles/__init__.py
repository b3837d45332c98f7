"""Lesson 10: attention in tiles of keys, each with an output and a log-sum-exp."""

EXERCISES = (
    "logsumexp_of",
    "partial_attention",
    "merge",
    "tiled_attention",
    "causal_tiled_attention",
    "tiled_backward",
)
STEPS = ("weights_from", "read_key", "kind_of_block", "through_softmax", "merge_all")
