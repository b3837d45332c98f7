"""Wrong settings and missing packages are found before anything runs."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from traitlets.config import Config

from grading import extras
from grading.cli import main
from grading.course import Course
from grading.course_dir import overrides
from grading.course_dir.course_config import load_config
from grading.course_dir.known_settings import parse_settings, unknown_settings
from grading.errors import MissingExtra, SettingError
from grading.extras import demand_extra

from ..support.course_builder import TINY_LESSONS, add_config, build_course

ONE = TINY_LESSONS[0]


@pytest.fixture(autouse=True)
def no_settings_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overrides, "given", Config())


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = build_course(tmp_path / "course")
    monkeypatch.chdir(root)
    return root


def test_the_command_line_overrides_the_course_for_one_command_only(course):
    add_config(course, "c.LatePolicy.policy = 'zero'\nc.LatePolicy.most = 0.5")
    assert main.main(["report", "--LatePolicy.policy=half", "--Delivery.solutions=['*']"]) == 0
    config = Course(course).config
    assert (config.LatePolicy.policy, config.LatePolicy.most) == ("half", 0.5)
    assert config.Delivery.solutions == ["*"]
    assert main.main(["report"]) == 0
    assert Course(course).config.LatePolicy.policy == "zero"


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ("--JudgdExecute.seed=1", "no class JudgdExecute; did you mean JudgedExecute? (JudgdExecute.seed)"),
        ("--JudgedExecute.unsandboxd=1", "has no setting unsandboxd; did you mean JudgedExecute.unsandboxed?"),
        ("--LatePolicy.policy=halff", "--LatePolicy.policy=halff: expected any of ['none', 'zero', 'half'"),
        ("--ExecutePreprocessor.timeout=soon", "--ExecutePreprocessor.timeout=soon: expected an int"),
        ("--JudgedExecute.limits={'memory': ", "expected a dict"),
    ],
)
def test_an_unknown_setting_gives_an_error_with_a_similar_name(course, capsys, argument, why):
    assert main.main(["report", argument]) == 2
    said = capsys.readouterr()
    assert why in said.err and said.err.startswith("grading: ") and said.err.count("\n") == 1
    assert said.out == ""


def test_a_verb_that_reads_no_configuration_takes_no_setting(course, capsys):
    assert main.main(["doctor", "--LatePolicy.policy=half"]) == 2
    assert (
        "this verb does not read nbgrader_config.py, so --LatePolicy.policy would change nothing"
        in capsys.readouterr().err
    )


def test_values_have_the_types_that_the_settings_have():
    given = [
        ("JudgedExecute", "unsandboxed", "False"),
        ("JudgedExecute", "limits", "{'memory': 5}"),
        ("CourseDirectory", "ignore", "a"),
        ("CourseDirectory", "ignore", "b"),
    ]
    config = parse_settings(given)
    assert config.JudgedExecute == {"unsandboxed": False, "limits": {"memory": 5}}
    assert config.CourseDirectory.ignore == ["a", "b"]
    with pytest.raises(SettingError, match="expected a boolean"):
        parse_settings([("JudgedExecute", "unsandboxed", "maybe")])


def test_all_settings_of_a_new_course_and_of_its_own_plugins_are_known(course):
    (course / "our_rule.py").write_text(
        "from nbgrader.plugins import LateSubmissionPlugin\nfrom traitlets import Int\n"
        "class OurRule(LateSubmissionPlugin):\n    days = Int(3).tag(config=True)\n"
    )
    add_config(
        course,
        f"import sys; sys.path.insert(0, {str(course)!r})\n"
        "c.AssignLatePenalties.plugin_class = 'our_rule.OurRule'\nc.OurRule.days = 2\nc.OurRule.dais = 2\n"
        "c.Delivery.repositry = 'x'",
    )
    assert unknown_settings(load_config(course)) == [
        "OurRule has no setting dais; did you mean OurRule.days?",
        "Delivery has no setting repositry; did you mean Delivery.repository?",
    ]


def test_a_missing_package_is_reported_before_anything_runs(course, capsys, monkeypatch):
    def found(name: str) -> Distribution:
        if name == "sphinx":
            raise PackageNotFoundError(name)
        return distribution(name)

    monkeypatch.setattr(extras, "distribution", found)
    for arguments in (["publish", "../students", "--site"], ["site"]):
        assert main.main(arguments) == 2
        assert capsys.readouterr() == (
            "",
            "grading: nothing was done. "
            f"{'The' if arguments[0] == 'publish' else 'A'} web site needs sphinx, which is not installed: run "
            '`pip install "sphinx>=8"`\n',
        )
    assert not (course.parent / "students").exists()
    demand_extra("canvas", "Sending points")
    with pytest.raises(MissingExtra, match=r"A site needs sphinx, which is not installed"):
        demand_extra("site", "A site")
