"""Lesson 03: embeddings, attention without and with projections, chosen queries."""

EXERCISES = ("embed", "simple_attention", "project_qkv", "attention", "query_for")
CHALLENGES = ("remember",)
