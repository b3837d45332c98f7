"""Indexes by which a gradebook finds the rows of one submission without reading those of the whole course.

nbgrader's tables have none for these columns: with 1000 students in eight lessons, to write one grade reads 50,000 rows
several times over. A gradebook that is new is made with them.
"""

from __future__ import annotations

from nbgrader.api import Comment, Grade, Gradebook, SubmittedNotebook
from sqlalchemy import Index, inspect
from sqlalchemy.exc import DBAPIError

_OF_A_SUBMISSION = (
    Index("attention_grades_of_notebook", Grade.notebook_id),
    Index("attention_comments_of_notebook", Comment.notebook_id),
    Index("attention_notebooks_of_submission", SubmittedNotebook.assignment_id),
)


def have_indexes(gradebook: Gradebook) -> None:
    """Make those that the gradebook lacks. Raises sqlalchemy's errors."""
    for index in _OF_A_SUBMISSION:
        try:
            index.create(gradebook.engine, checkfirst=True)
        except DBAPIError:  # whoever shares the gradebook made it in the same moment
            there = inspect(gradebook.engine).get_indexes(str(index.table))
            if index.name not in {one["name"] for one in there}:
                raise
