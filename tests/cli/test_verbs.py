"""The verbs of `grading`: their declarations and help."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys

import pytest

from grading.cli import main
from grading.cli.verbs import verbs_by_group
from grading.plugin import Verb
from grading.safe_text import plural

from ..support.course_builder import build_course
from ..support.repository import ROOT

OURS = {
    "__init__.py": """
from grading.plugin import Plugin, Verb

PLUGIN = Plugin({"Look after": (Verb("show-url", "Show the address of the LMS."),)}, "our_lms.settings")
""",
    "settings.py": """
from grading.course_dir.course_file import CourseFile

class OurCourse(CourseFile):
    our_url: str = ""
""",
    "verbs.py": """
def add_commands(commands):
    commands.add("show-url", show_url, example="show-url")

def show_url(options):
    from grading.course_dir.course_file import load_course_file

    print(load_course_file(options.root).our_url)
    return 0
""",
}


@pytest.fixture(scope="module")
def verbs() -> dict[str, argparse.ArgumentParser]:
    """The parser of each verb, in their order."""
    (action,) = (one for one in main.make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(action.choices)


def every_verb() -> list[Verb]:
    return [verb for group in verbs_by_group().values() for verb in group]


def shown(*arguments: str) -> tuple[list[str], list[str]]:
    """The groups and the verbs that `grading` lists."""
    command = [sys.executable, "-m", "grading", *arguments]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    headings = [line[:-1] for line in text.splitlines() if line[:1].isupper() and line.endswith(":")]
    return headings, re.findall(r"^    ([a-z-]+) +[A-Z].*\.$", text, re.M)


def test_help_all_lists_every_verb_in_its_group_in_the_order_of_a_term(verbs):
    headings, listed = shown("--help", "all")
    assert headings == [
        "Begin a course",
        "Write lessons",
        "Release",
        "Collect",
        "Grade",
        "Give back",
        "Change",
        "Look after",
    ]
    assert sorted(listed) == sorted(verbs), "each verb has a module that declares it"
    before = {verb.name: verb.before for verb in every_verb() if verb.before}
    assert all(listed.index(name) < listed.index(other) for name, other in before.items())


def test_help_lists_the_ten_verbs_of_a_term():
    listed = shown("--help")[1]
    assert listed == [verb.name for verb in every_verb() if verb.term]
    assert len(listed) == 10


def test_a_plug_in_of_another_distribution_adds_a_verb_and_settings(tmp_path):
    package = tmp_path / "our_lms"
    package.mkdir()
    for name, text in OURS.items():
        (package / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "GRADING_PLUGINS": "our_lms"}
    root = build_course(tmp_path / "course")
    (root / "course.toml").write_text('our_url = "https://lms.example.edu"\n')
    command = [sys.executable, "-m", "grading", "show-url"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.stdout == "https://lms.example.edu\n", done.stderr


def test_help_of_all_verbs_imports_nothing_slow():
    code = (
        "import sys\n"
        "from grading.cli import main\n"
        "main.make_parser().format_help()\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"torch", "nbgrader", "sqlalchemy", "rich", "nbformat", "matplotlib"} & set(done.stdout.split())


def test_a_verb_is_described_in_one_sentence_and_every_option_has_a_help(verbs):
    for name, verb in verbs.items():
        summary = verb.description or ""
        assert summary[0].isupper() and summary.count(".") == 1 + summary.count(".toml") and summary[-1] == ".", name
        for action in verb._actions:
            assert action.help, f"{name}: {action.dest}"


def test_every_verb_ends_its_help_with_an_example_that_works(verbs):
    parser = main.make_parser()
    for name, verb in verbs.items():
        title, _, example = (verb.epilog or "").partition("\n")
        assert title == "example:", name
        command, *arguments = shlex.split(example.partition(">>")[0])
        assert command == "grading"
        assert parser.parse_args(arguments).verb == name


def test_an_option_is_described_by_a_noun_phrase(verbs):
    imperatives = re.compile(r"(add|bring|finish|hide|include|keep|list|print|replace|show|take|undo|use|write)\b")
    for name, verb in verbs.items():
        for action in verb._actions:
            if action.dest != "help":  # argparse's own
                assert not imperatives.match(action.help or ""), f"{name}: {action.help}"


@pytest.mark.parametrize(("number", "text"), [(0, "0 grades"), (1, "1 grade"), (2, "2 grades")])
def test_plural(number, text):
    assert plural(number, "grade") == text
