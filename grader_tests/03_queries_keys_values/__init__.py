"""Lesson 03: embeddings, attention without and with projections, and queries made to order."""

EXERCISES = ("embed", "simple_attention", "project_qkv", "attention", "query_for")
CHALLENGES = ("remember",)
