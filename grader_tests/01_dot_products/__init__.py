"""Lesson 01: the dot product, all scores at once, cosine similarity, the most similar key."""

EXERCISES = ("dot", "similarity_scores", "cosine_similarity", "most_similar")
STEPS = ("score_each", "lengths")
