"""Lesson 00: how a lesson works; shapes, broadcasting, gradients, modules, a step."""

EXERCISES = ("twice", "centre", "Line", "gradient_step")
