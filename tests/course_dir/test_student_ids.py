from __future__ import annotations

import pytest

from grading.course_dir.student_ids import why_unfit


@pytest.mark.parametrize("student", ["jsmith", "jane doe", "o'neil", "j.smith+2@example.org", "x(1)", "王小明", "a:b"])
def test_valid_ids_are_accepted(student: str) -> None:
    assert why_unfit(student) == ""


@pytest.mark.parametrize("student", ["x&y<b>", "DOM\\jdoe", "x(1)[2]", "*", "a?", 'a"b', "a/b", ".", "..", "", "a\tb"])
def test_invalid_ids_give_an_error_with_the_remedy(student: str) -> None:
    assert "rename the folder in submitted/" in why_unfit(student)
