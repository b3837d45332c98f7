"""What the documents name is there: files, headings, verbs, settings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from course.checkers import CHECKERS
from course.harness.helpers import HELPERS
from grading.cli import main
from grading.exercises import exercise
from grading.proof import mistakes_page
from grading.sandbox import Policy

from .conftest import ROOT

DOCS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "contracts").glob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
OWNERS = {
    "Delivery": "grading.authoring.student_install",
    "Exchange": "nbgrader.exchange",
    "TolerantExtractor": "grading.nbgrader_plugins.zip_collect",
    "CourseDirectory": "nbgrader.coursedir",
    "JudgedExecute": "grading.nbgrader_plugins.execute",
    "ExecutePreprocessor": "nbconvert.preprocessors",
    "LateSubmissionPlugin": "nbgrader.plugins",
    "AssignLatePenalties": "nbgrader.preprocessors",
    "FeedbackExporter": "grading.nbgrader_plugins.feedback_exporter",
    "GenerateAssignment": "nbgrader.converters",
    "LatePolicy": "grading.nbgrader_plugins.late_policy",
}


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path):
    for target, anchor in LINK.findall(text(path)):
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), f"{path.name}: {target}"
        assert not anchor or anchor in anchors(file), f"{path.name}: {target}#{anchor}"


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_verb_of_grading_and_make_is_one(path, capsys):
    with pytest.raises(SystemExit):
        main.main(["--help"])
    verbs = set(re.findall(r"^    ([\w-]+) ", capsys.readouterr().out, re.M))
    assert {"grade", "doctor"} <= verbs
    made = set(re.findall(r"^([a-z]+):.*## ", text(ROOT / "Makefile"), re.M))
    assert set(re.findall(r"(?:^    |`)grading ([a-z-]+)\b(?! ─)", text(path), re.M)) <= verbs
    assert set(re.findall(r"(?:^    |`)make ([a-z]+)", text(path), re.M)) <= made


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_setting_is_one(path):
    named = re.findall(r"\bc\.(\w+)\.(\w+)|--(JudgedExecute)\.(\w+)", text(path))
    for owner, setting in ((a or c, b or d) for a, b, c, d in named):
        made = getattr(import_module(OWNERS[owner]), owner)
        assert setting in made.class_trait_names(config=True), f"{path.name}: {owner}.{setting}"


def test_the_limits_that_teachers_are_told_are_fields_of_the_policy():
    told = re.search(r"`\{(.+?)…\}`", text(ROOT / "docs" / "teachers.md"))
    assert told
    names = re.findall(r'"(\w+)":', told[1])
    assert names
    assert set(names) <= set(Policy.__dataclass_fields__)


def methods(kind: type) -> dict[str, object]:
    return {name: value for name, value in vars(kind).items() if inspect.isfunction(value) and name[0] != "_"}


def listed(named: Mapping[str, object]) -> str:
    """A table of what is called how and the first paragraph of its docstring."""
    rows = ["| | |", "|---|---|"]
    for name, value in named.items():
        told = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
        assert told, f"{name} has no docstring"
        arguments = "" if inspect.isclass(value) else called(value)
        rows.append(f"| `{name}{arguments}` | {told} |")
    return "\n".join(rows)


def called(function: object) -> str:
    """Its signature without annotations, `self`, and what every property is called with."""
    signature = inspect.signature(function)
    kept = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "seen", "exact")
    ]
    return str(signature.replace(parameters=kept, return_annotation=signature.empty)).replace(
        "torch.float32", "float32"
    )


def authors_tables() -> dict[str, str]:
    """What docs/authors.md lists from the code."""
    public = {name: getattr(exercise, name) for name in exercise.__all__ if name != "EXERCISE"}
    return {
        "case": listed(methods(exercise.Case)),
        "draw": listed(methods(exercise.Draw)),
        "exercise": listed(public),
        "helpers": listed(HELPERS),
        "properties": listed(CHECKERS),
    }


def test_teachers_are_told_the_mistakes_that_there_are():
    assert text(ROOT / "docs" / "mistakes.md") == mistakes_page.page(ROOT), "run `make build`"


@pytest.mark.parametrize("of", ["case", "draw", "exercise", "helpers", "properties"])
def test_authors_are_told_what_the_docstrings_tell(of):
    table = authors_tables()[of]
    assert table in text(ROOT / "docs" / "authors.md"), f"docs/authors.md should have\n\n{table}"
