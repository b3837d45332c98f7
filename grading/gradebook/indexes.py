"""Indexes that find the rows of one submission without scanning all others.

nbgrader's tables have no indexes on these columns. With 1000 students in eight lessons, writing one grade then scans
50,000 rows several times. New gradebooks are created with these indexes.
"""

from __future__ import annotations

from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from sqlalchemy import Index, inspect
from sqlalchemy.exc import DBAPIError

_INDEXES = (
    Index("attention_grades_of_notebook", Grade.notebook_id),
    Index("attention_comments_of_notebook", Comment.notebook_id),
    Index("attention_notebooks_of_submission", SubmittedNotebook.assignment_id),
)


def have_indexes(gradebook: Gradebook) -> None:
    """Create the indexes that the gradebook lacks. Raises SQLAlchemy's errors."""
    for index in _INDEXES:
        try:
            index.create(gradebook.engine, checkfirst=True)
        except DBAPIError:  # another process created it at the same time
            there = inspect(gradebook.engine).get_indexes(str(index.table))
            if index.name not in {row["name"] for row in there}:
                raise
