"""The bank of reusable comments, in comments.toml in the course directory.

How often a comment is used is counted from the gradebook and not stored here. So comments no longer count once a class
is deleted or graded again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from course.models.write_file import write_file
from grading.course import Course
from grading.course_dir.toml_text import to_toml
from grading.errors import CommentBankError

FILE = "comments.toml"
NOTE = "Comments for `grading review`. `question`, if given, is the only one for which a comment is offered."
MOST_TEXT, MOST_COMMENTS = 10_000, 500


@dataclass(frozen=True)
class BankComment:
    """A reusable comment.

    `question`: "LESSON/NAME" of the only question to offer it for; "" for all.
    """

    text: str
    question: str = ""


def load_comments(course: Course) -> list[BankComment]:
    """All comments in the file's order. Raises CommentBankError."""
    file = course.root / FILE
    try:
        rows = tomllib.loads(file.read_text(encoding="utf-8")).get("comment", [])
        return [BankComment(str(row["text"]), str(row.get("question", ""))) for row in rows]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"a comment has no {error}" if isinstance(error, KeyError) else str(error)
        raise CommentBankError(f"{file}: {why}. Correct the file; each comment is [[comment]] with a `text`.") from None


def save_comments(course: Course, comments: Iterable[BankComment]) -> None:
    rows = [{"text": c.text, **({"question": c.question} if c.question else {})} for c in comments]
    write_file(course.root / FILE, to_toml({"comment": rows}, NOTE) if rows else None)


def with_comment(comments: list[BankComment], new: BankComment) -> list[BankComment]:
    """Add a comment, unless it is there already. Raises CommentBankError."""
    if not new.text.strip() or len(new.text) > MOST_TEXT:
        raise CommentBankError(f"a comment needs a text of at most {MOST_TEXT:,} characters")
    if len(comments) >= MOST_COMMENTS:
        raise CommentBankError(f"the bank is full ({len(comments)} comments): delete some that are not used")
    return comments if new in comments else [*comments, new]
