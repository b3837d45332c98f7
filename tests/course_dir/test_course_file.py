"""course.toml: valid content, and the message for each mistake in it.

A message has the file, the line and a similar name, without a traceback.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grading.cli.main import main
from grading.course_dir.course_config import settings_in_force
from grading.course_dir.course_file import Policy, load_course_file, parse_course_file
from grading.course_dir.course_template import write_course_file
from grading.course_dir.lesson_marks import CHECK, exercise_points
from grading.course_dir.lessons import list_lessons
from grading.course_dir.toml_lines import key_lines
from grading.errors import CourseError, CourseFileError
from grading.exercises.lesson import load_lesson
from grading.nbgrader_plugins.late_policy import POLICIES
from grading.notebooks import cells

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import LESSONS, ROOT

WRONG = {
    'titel = "x"': "course.toml:1: unknown key 'titel'; did you mean 'title'?",
    '[publish]\nrepositry = "x"': "course.toml:2: unknown key 'repositry'; did you mean 'repository'?",
    '[limits]\nmemroy = "2 GiB"': "course.toml:2: unknown key 'memroy'; did you mean 'memory'?",
    '[limits]\nmemory = "2GB"': """course.toml:2: memory: expected a size such as "2 GiB", got '2GB'""",
    '[late]\npolicy = "10%"': "course.toml:2: policy: expected one of 'none', 'zero', 'half', '10% a day'",
    "[late]\nmost = 2": "course.toml:2: most: expected at most 1.0, got 2",
    "[attempts]\nper_hour = -1": "course.toml:2: per_hour: expected at least 0, got -1",
    '[[lesson]]\nname = "01_double"\nattempts.per_hur = 1': (
        "course.toml:3: unknown key 'per_hur'; did you mean 'per_hour'?"
    ),
    'id = "a b"': "course.toml:1: id: expected letters, digits, - and _, got 'a b'",
    "title = 3": "course.toml:1: title: expected text in quotation marks, got 3",
    'timezone = "Europe/Berln"': "course.toml:1: unknown time zone 'Europe/Berln'; did you mean 'Europe/Berlin'?",
    '[[lesson]]\nname = "01_duoble"': "course.toml:2: unknown lesson '01_duoble'; did you mean '01_double'?",
    "[[lesson]]\ninclude = false": "course.toml:1: 'name' is missing",
    '[[lesson]]\nname = "01_double"\n\n[[lesson]]\nname = "01_double"': "course.toml:5: 01_double is listed twice",
    '[[lesson]]\nname = "01_double"\ndue = 2026-11-20 23:59:00': "course.toml:3: due has no time zone",
    '[[lesson]]\nname = "01_double"\ndue = 2026-11-20': "course.toml:3: due: expected a date with a time",
    '[[lesson]]\nname = "01_double"\nexercises.double.points = -3': "course.toml:3: points: expected more",
    '[[lesson]]\nname = "01_double"\nexercises.double.points = "8"': "course.toml:3: points: expected a whole number",
    '[[lesson]]\nname = "01_double"\nexercises.dubble.points = 3': (
        "course.toml:3: unknown exercise 'dubble'; did you mean 'double'?"
    ),
    '[[lesson]]\nname = "01_double"\nexercises.double.include = false': "course.toml:1: 01_double has no exercise left",
    '[publish]\nsolutions = ["02_halv"]': "course.toml:2: unknown lesson '02_halv'; did you mean '02_halve'?",
    "title = ": "course.toml: Invalid value (at end of document)",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_course(tmp_path_factory.mktemp("toml") / "course")


@pytest.fixture
def toml(course):
    """Write a course.toml for one test."""
    path = course / "course.toml"
    yield path.write_text
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text.replace("\n", " "))
def test_each_mistake_is_reported_with_its_line(course, text):
    with pytest.raises(CourseFileError) as found:
        parse_course_file(text.encode(), course)
    assert WRONG[text] in str(found.value)


def test_all_mistakes_are_reported_at_once(course):
    with pytest.raises(CourseFileError) as found:
        parse_course_file(b'titel = "x"\n[late]\npolicy = "some"\nmost = 0\n', course)
    assert [line.split(": ")[0] for line in str(found.value).splitlines()] == [f"course.toml:{n}" for n in (1, 3, 4)]


def test_a_mistake_ends_a_command_without_a_traceback(course, toml, capsys):
    toml('[publish]\nrepositry = "x"')
    assert main(["settings", "--course", str(course)]) != 0
    assert capsys.readouterr().err == "grading: course.toml:2: unknown key 'repositry'; did you mean 'repository'?\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x = y", "NameError: name 'y' is not defined"),
        ("c.LatePolicy.policy = ", "SyntaxError: invalid syntax"),
        ("import nothing_of_this_name", "ModuleNotFoundError: No module named"),
        ("c.LatePolicy.polcy = 'half'", "LatePolicy has no setting polcy"),
        ("c.LatePolcy.policy = 'half'", "no class LatePolcy"),
    ],
)
def test_a_mistake_in_nbgrader_config_is_reported_with_its_line(tmp_path, capsys, line, said):
    root = build_course(tmp_path / "course", config=line)
    number = (root / "nbgrader_config.py").read_text().splitlines().index(line) + 1
    assert main(["settings", "--course", str(root)]) != 0
    assert f"nbgrader_config.py:{number}: {said}" in capsys.readouterr().err


def test_due_dates_have_the_courses_time_zone(course):
    text = 'timezone = "Europe/Berlin"\n[[lesson]]\nname = "01_double"\ndue = 2026-11-20 23:59:00\n'
    found = parse_course_file(text.encode(), course)
    assert found.due("01_double") == datetime(2026, 11, 20, 22, 59, tzinfo=UTC)
    own = parse_course_file(b'[[lesson]]\nname = "01_double"\ndue = 2026-11-20T23:59:00-05:00\n', course)
    assert own.due("01_double") == datetime(2026, 11, 21, 4, 59, tzinfo=UTC)
    assert own.due("02_halve") is None


def test_listed_lessons_keep_their_order_and_others_are_sorted_in_by_number(course, toml):
    assert list_lessons(course) == TINY_LESSONS
    toml('[[lesson]]\nname = "02_halve"\n[[lesson]]\nname = "01_double"\n')
    assert list_lessons(course) == ["02_halve", "01_double"]
    toml('[[lesson]]\nname = "02_halve"\n')
    assert list_lessons(course) == TINY_LESSONS
    toml('[[lesson]]\nname = "01_double"\ninclude = false\n')
    assert list_lessons(course) == ["02_halve"]
    with pytest.raises(CourseError, match="leaves out 01_double: set include = true"):
        list_lessons(course, ["01_double"])


def test_nbgrader_config_overrides_and_settings_show_each_values_source(course, toml, monkeypatch):
    root = build_course(
        course.parent / "both", config='c.LatePolicy.policy = "half"\nc.JudgedExecute.seed = "nobody guesses"'
    )
    (root / "course.toml").write_text(
        'id = "autumn"\n[late]\npolicy = "zero"\nmost = 0.5\n[limits]\nmemory = "1 GiB"\n'
    )
    found = {setting.name: (setting.value, setting.source) for setting in settings_in_force(root)}
    assert found["LatePolicy.policy"] == ("half", "nbgrader_config.py")
    assert found["LatePolicy.most"] == (0.5, "course.toml")
    assert found["CourseDirectory.course_id"] == ("autumn", "course.toml")
    assert found["JudgedExecute.limits"] == ({"memory": 2**30}, "course.toml")
    assert "nobody" not in str(found)


def test_the_file_that_init_writes_is_valid_and_changes_nothing(course, toml):
    path = write_course_file(course)
    found = load_course_file(course)
    assert [entry.name for entry in found.lesson] == TINY_LESSONS
    assert not any(found.change(lesson) or found.due(lesson) for lesson in TINY_LESSONS)
    written = "\n".join(
        line.removeprefix("# ") if line.startswith("# ") and " = " in line and "include" not in line else line
        for line in path.read_text().splitlines()
    )
    everything = parse_course_file(written.encode().replace(b'"01_dot_products"', b'"01_double"'), course)
    assert everything.limits.memory == "2 GiB" and everything.lms.canvas_course == 7
    assert everything.change("01_double").points == {"double": 5}


def test_a_course_begun_without_the_file_can_be_upgraded(tmp_path, capsys):
    root = build_course(tmp_path / "old", config='c.CourseDirectory.course_id = "spring"')
    settings = (root / "nbgrader_config.py").read_text()
    start, end = settings.index("# Reads course.toml"), settings.index("c.merge(course_settings(__file__))\n")
    (root / "nbgrader_config.py").write_text(settings[:start] + settings[end:].partition("\n")[2])
    assert main(["init", "--upgrade", str(root)]) == 0
    assert load_course_file(root).id == "spring"
    assert "course_settings" in (root / "nbgrader_config.py").read_text()
    assert main(["init", "--upgrade", str(root)]) != 0
    assert "already has a course.toml" in capsys.readouterr().err


def test_line_numbers_of_keys_in_arrays_and_dotted_tables():
    text = 'a = 1\n[[lesson]]\nname = "x"\n[lesson.exercises.dot]\npoints = 1\n[[lesson]]\nb.c = 2\n[lesson."q r"]\n'
    lines = key_lines(text)
    assert lines[("a",)] == 1
    assert lines[("lesson", 0, "exercises", "dot", "points")] == 5
    assert lines[("lesson", 1)] == 6
    assert lines[("lesson", 1, "b", "c")] == 7
    assert lines[("lesson", 1, "q r")] == 8


def test_constants_that_are_defined_twice_agree():
    assert set(Policy.__args__) == set(POLICIES)
    assert CHECK == cells.CHECK


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_shares_of_our_criteria_are_the_points_in_the_text(lesson):
    exercises = load_lesson(ROOT / "grader_tests" / lesson).exercises.values()
    assert exercise_points(ROOT, lesson) == {exercise.name: exercise.points for exercise in exercises}
