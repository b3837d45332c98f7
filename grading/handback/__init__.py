"""Grades back into a learning management system: its own export, with one column filled."""
