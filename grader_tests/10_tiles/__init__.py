"""Lesson 10: attention over the keys in tiles, and what must be kept of a tile: an output and a log-sum-exp."""

EXERCISES = ("logsumexp_of", "partial_attention", "merge", "tiled_attention", "tiled_backward")
CHALLENGES = ("merge_all",)
