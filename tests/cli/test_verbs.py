"""The verbs of `grading`: their declarations and help."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys

import pytest

from grading.cli import main
from grading.cli.arguments import Commands
from grading.plural import plural

from ..support.repository import ROOT


@pytest.fixture(scope="module")
def verbs() -> dict[str, argparse.ArgumentParser]:
    """The parser of each verb, in their order."""
    parser = argparse.ArgumentParser()
    commands = Commands(parser)
    for group in main.GROUPS:
        group.add_commands(commands)
    (action,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return dict(action.choices)


def test_help_lists_every_verb_in_its_group_in_the_order_of_a_term(verbs):
    done = subprocess.run(
        [sys.executable, "-m", "grading", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    headings = [line[:-1] for line in done.stdout.splitlines() if line[:1].isupper() and line.endswith(":")]
    assert headings == list(main.VERBS)
    listed = re.findall(r"^    ([a-z-]+) +[A-Z].*\.$", done.stdout, re.M)
    assert listed == [name for names in main.VERBS.values() for name in names if name in verbs]
    assert sorted(listed) == sorted(verbs), "each verb has its place in main.VERBS"


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
