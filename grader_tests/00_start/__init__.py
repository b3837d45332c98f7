"""Lesson 00: attention of one word, of all words, in three roles, with the root, with the triangle."""

EXERCISES = ("attend_once", "attend_all", "attend_by_roles", "rooted_scores", "past_weights")
