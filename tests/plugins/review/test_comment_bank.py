"""The comment bank is a file of the course; the gradebook counts the uses."""

from __future__ import annotations

import tomllib

import pytest

from grading.errors import CommentBankError

from ...support.review_course import ESSAY, LESSON, WHY
from .reading import grade, key_of

TEXT = 'See "Scaling" – \\sqrt{d}\n\x7f'


def kept(desk, cell=WHY):
    return {row["text"]: row["used"] for row in desk.bank(key_of(cell))}


def test_a_comment_is_kept_in_the_course_and_counted(desk, course):
    desk.keep_comment("ann", "p", key_of(WHY), TEXT, False)
    desk.keep_comment("ann", "p", key_of(WHY), "Why?", False)
    desk.keep_comment("ann", "p", key_of(WHY), "Why?", False)
    grade(desk, WHY, "ada", comment="Good. Why?")
    grade(desk, ESSAY, "ben", comment="Why?")
    assert kept(desk) == {"Why?": 2, TEXT.strip(): 0}
    rows = tomllib.loads((course / "comments.toml").read_text())["comment"]
    assert rows == [{"text": TEXT.strip()}, {"text": "Why?"}]


def test_a_comment_may_be_for_one_question_only(desk):
    desk.keep_comment("ann", "p", key_of(WHY), "Variance!", True)
    assert kept(desk) == {"Variance!": 0}
    assert kept(desk, ESSAY) == {}


def test_a_deleted_comment_stays_on_its_answers_and_undo_restores_it(desk):
    desk.keep_comment("ann", "p", key_of(WHY), "Why?", True)
    desk.drop_comment("ann", "p", "Why?", f"{LESSON}/{WHY}")
    assert kept(desk) == {}
    desk.undo("ann", "p", None)
    assert kept(desk) == {"Why?": 0}


def test_an_invalid_bank_file_is_named(desk, course):
    (course / "comments.toml").write_text("[[comment]]\nwords = 'x'")
    with pytest.raises(CommentBankError, match=r"comments\.toml: a comment has no 'text'"):
        desk.bank(key_of(WHY))
