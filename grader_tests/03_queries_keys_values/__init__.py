"""Lesson 03: embeddings, attention, projections that learn, chosen queries."""

EXERCISES = ("embed", "attention", "SelfAttention")
STEPS = ("as_layer", "query_for")
