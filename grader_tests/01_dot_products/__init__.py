"""Lesson 01: the dot product, cosine similarity, all scores at once, the most similar key.

Mutants of the solutions that survive `grading check` are equivalent: what stands in for a length
of 0 may be any number (0 divided by it is 0), `transpose` takes its two dimensions in either order,
and a cosine its two vectors."""

EXERCISES = ("dot", "cosine_similarity", "similarity_scores", "most_similar")
