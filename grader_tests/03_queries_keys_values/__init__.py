"""Lesson 03: embeddings, attention without and with projections, chosen queries."""

EXERCISES = ("embed", "simple_attention", "project_qkv", "attention", "query_for")
STEPS = ("one_context", "self_attention", "wanted_scores", "unpack", "remember")
