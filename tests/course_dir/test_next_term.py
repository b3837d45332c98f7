"""The next term's course has this one's lessons and settings, and no students."""

from __future__ import annotations

import pytest

from grading.cli import main
from grading.course import Course
from grading.course_dir.lesson_base import kept_base, read_lessons
from grading.course_dir.next_term import begin_next_term, next_term_config, next_term_settings
from grading.course_dir.scaffold import init_course
from grading.course_dir.seeds import course_seed
from grading.errors import CourseError

from ..support.course_builder import TINY_LESSONS, build_course

CONFIG = """\
c.CourseDirectory.db_url = (
    "postgresql://teacher@db/autumn"
)
c.JudgedExecute.seed = "autumn"
c.LatePolicy.policy = "half"
c.Delivery.repository = "https://github.com/you/autumn"
if True:
    c.CourseDirectory.root = "/srv/autumn"
"""
SETTINGS = """\
title = "Attention"
id = "autumn"
timezone = "Europe/Berlin"

[publish]
solutions = [
    "01_double",
]
repository = "https://github.com/you/attention"

[[lesson]]
name = "01_double"
due = 2026-11-20 23:59:00
exercises.double.points = 8
"""


@pytest.fixture
def autumn(tmp_path):
    """A course in mid-term with a lesson that the teacher changed."""
    origin = build_course(tmp_path / "attention")
    root = tmp_path / "autumn"
    init_course(root, origin)
    text = root / "source" / f"{TINY_LESSONS[0]}.py"
    text.write_text(text.read_text().replace("# # To double", "# # To double\n#\n# Twice as much."))
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(CONFIG)
    for path, content in {
        "course.toml": SETTINGS,
        "comments.toml": "more = 'Say more.'\n",
        "students.csv": "id\nada\n",
        "student-ids.csv": "",
        "gradebook.db": "",
        "own_policy.py": "X = 1\n",
        "submitted/ada/01_double/01_double.ipynb": "{}",
        "release/01_double/01_double.ipynb": "{}",
        "source/01_double/01_double.ipynb": "{}",
        "source/hw1/hw1.ipynb": "{}",
        "grader_tests/01_double/double/table.json": "[]",
        "rubrics/01_double/why.toml": "points = 2\n",
        "before-migrating-2026/source/01_double.py": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root


def test_the_next_term_has_this_ones_lessons_and_settings_and_none_of_its_students(autumn, tmp_path, capsys):
    spring = tmp_path / "spring"
    assert main.main(["init", str(spring), "--from", str(autumn)]) == 0
    told = capsys.readouterr().out
    assert read_lessons(spring) == read_lessons(autumn)
    assert kept_base(spring) == kept_base(autumn) == read_lessons(tmp_path / "attention")
    there = {
        path.relative_to(spring).as_posix() for path in spring.rglob("*") if path.suffix != ".pyc" and path.is_file()
    }
    lessons = set(read_lessons(spring)) | {f".lessons-base/{path}" for path in read_lessons(spring)}
    assert there - lessons == {
        ".gitignore",
        ".grading-seed",
        ".lessons-base/README.txt",
        "comments.toml",
        "course.toml",
        "grader_tests/01_double/double/table.json",
        "nbgrader_config.py",
        "own_policy.py",
        "rubrics/01_double/why.toml",
        *(f"source/{name}/{name}.ipynb" for name in TINY_LESSONS),
        *(f"source/{name}/outline.json" for name in TINY_LESSONS),
        *(f"source/{name}/{name}.{kind}" for name in TINY_LESSONS for kind in ("stubs", "given")),
        "source/hw1/hw1.ipynb",
    }
    assert course_seed(spring) != course_seed(autumn)
    config = Course(spring).config
    assert "db_url" not in config.CourseDirectory and "seed" not in config.JudgedExecute
    assert config.CourseDirectory.course_id == "spring"
    assert config.LatePolicy.policy == "half"
    assert "c.CourseDirectory.db_url, is commented out: it names the gradebook of the last term" in told
    assert "c.CourseDirectory.root, is unchanged: check that it is right for the new term" in told
    assert "c.Delivery.repository, is unchanged" in told
    assert "course.toml: commented out, because it holds for one term only: lines 3, 7, 8, 9, 14" in told


def test_settings_of_one_term_are_commented_out_and_the_rest_is_unchanged():
    after = next_term_settings(SETTINGS, "spring")
    assert [line for line in after.splitlines() if not line.startswith("#")] == [
        'id = "spring"',
        'title = "Attention"',
        'timezone = "Europe/Berlin"',
        "",
        "[publish]",
        'repository = "https://github.com/you/attention"',
        "",
        "[[lesson]]",
        'name = "01_double"',
        "exercises.double.points = 8",
    ]
    assert [line.removeprefix("# ") for line in after.splitlines()[1:]] == SETTINGS.splitlines()
    assert next_term_config("c.LatePolicy.most = 0.5\n", "spring")[1] == []


def test_an_existing_or_unreadable_course_gives_an_error_and_nothing_is_written(autumn, tmp_path):
    with pytest.raises(CourseError, match="is already a course"):
        begin_next_term(autumn, autumn)
    with pytest.raises(CourseError, match="is inside the course"):
        begin_next_term(autumn / "spring", autumn)
    with pytest.raises(CourseError, match="does not exist"):
        begin_next_term(tmp_path / "spring", autumn, exchange=str(tmp_path / "nowhere"))
    with (autumn / "nbgrader_config.py").open("a") as config:
        config.write("c.LatePolicy.policy = \n")
    with pytest.raises(CourseError, match=r"nbgrader_config.py:\d+: invalid syntax. Correct the line first"):
        begin_next_term(tmp_path / "spring", autumn)
    assert not (tmp_path / "spring").exists()
