"""Lesson 01: the dot product, cosine similarity, all scores at once, the most similar key."""

EXERCISES = ("dot", "cosine_similarity", "similarity_scores", "most_similar")
CHALLENGES = ("squared_distances",)
