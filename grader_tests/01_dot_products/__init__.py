"""Lesson 01: the dot product, cosine similarity, all scores at once, the most similar key."""

EXERCISES = ("dot", "cosine_similarity", "similarity_scores", "most_similar")
STEPS = ("shadow", "lengths", "score_each", "neighbours", "squared_distances")
