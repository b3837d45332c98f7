"""The judge: exercises and cases, references, diagnosis, verdicts. `grade` is for an instructor's own notebook."""

from .inprocess import grade

__all__ = ["grade"]
