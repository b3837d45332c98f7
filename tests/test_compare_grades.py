"""`tools/compare_grades.py` records grades, and sees one that changed."""

from __future__ import annotations

import copy

from tools.compare_grades import compare, record_known_answers

from .support.course_builder import TINY_LESSONS, build_course


def test_a_changed_point_is_seen(tmp_path, capsys):
    before = record_known_answers(build_course(tmp_path / "course"), TINY_LESSONS[0], "double")
    name = "01_double double: solution"
    assert (before[name]["points"], before[name]["points for gradients"]) == (5, 2)
    assert compare(before, copy.deepcopy(before)) == 0
    assert capsys.readouterr().out == f"{len(before)} grades are equal\n"
    after = copy.deepcopy(before)
    after[name]["points for gradients"] = 1.5
    assert compare(before, after) == 1
    assert f"{name}: points for gradients: 2 → 1.5\n" in capsys.readouterr().out
