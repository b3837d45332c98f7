"""Lesson 00: how a lesson works, and what all others use: shapes, broadcasting, gradients, a module, a step."""

EXERCISES = ("twice", "centre", "Line", "gradient_step")
