"""The grading engine. A student never installs it."""
