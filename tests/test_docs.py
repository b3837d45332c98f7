"""What the documents name is there: files, headings, verbs, settings."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from grading.cli import main
from grading.proof.author_tables import filled_in, tables
from grading.sandbox import Policy

from .support.repository import ROOT

DOCS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "contracts").glob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
INVENTED = {"NN_lesson.py", "my_answers.py", "jupyterhub_config.py", "autograder.py"}  # examples, a hub's, a package's
OWNERS = {
    "Delivery": "grading.authoring.student_install",
    "Exchange": "nbgrader.exchange.default",
    "ExchangeCollect": "nbgrader.exchange.default",
    "ExchangeFactory": "nbgrader.exchange",
    "TolerantExtractor": "grading.plugins.lms.zip_collect",
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
def test_every_module_and_test_that_is_named_is_there(path):
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {Path(file).name for file in listed.splitlines()}
    named = {f"{name}.py" for name in re.findall(r"`(?:[\w/]*/)?(test_\w+)(?:\.py)?`", text(path))}
    named |= set(re.findall(r"`(?:[\w/]*/)?(\w+\.py)`", text(path))) - INVENTED
    assert named <= files, sorted(named - files)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_verb_of_grading_and_make_is_one(path, capsys):
    with pytest.raises(SystemExit):
        main.main(["--help", "all"])
    verbs = set(re.findall(r"^    ([\w-]+)(?: |$)", capsys.readouterr().out, re.M))
    assert {"grade", "doctor"} <= verbs
    made = set(re.findall(r"^([a-z-]+):.*## ", text(ROOT / "Makefile"), re.M))
    assert set(re.findall(r"(?:^    |`)grading ([a-z][a-z-]*)\b(?! ─)", text(path), re.M)) <= verbs
    assert set(re.findall(r"(?:^    |`)make ([a-z-]+)", text(path), re.M)) <= made


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_setting_is_one(path):
    named = re.findall(r"\bc\.(\w+)\.(\w+)|--(JudgedExecute)\.(\w+)", text(path))
    for owner, setting in ((a or c, b or d) for a, b, c, d in named if a != "JupyterHub"):  # not installed with ours
        made = getattr(import_module(OWNERS[owner]), owner)
        assert setting in made.class_trait_names(config=True), f"{path.name}: {owner}.{setting}"


def test_the_limits_that_teachers_can_set_are_fields_of_the_policy():
    told = re.search(r"`\{(.+?)…\}`", text(ROOT / "docs" / "adapting.md"))
    assert told
    names = re.findall(r'"(\w+)":', told[1])
    assert names
    assert set(names) <= set(Policy.__dataclass_fields__)


def test_a_generated_part_without_its_markers_is_an_error():
    with pytest.raises(LookupError, match="generated: sums"):
        filled_in("<!-- generated: other -->\n<!-- end -->", {"sums": "1"})
    assert filled_in("a\n<!-- generated: sums -->\n0\n<!-- end -->\nb", {"sums": "1"}).splitlines()[2] == "1"


def test_all_that_authors_are_shown_has_a_docstring():
    assert not re.findall(r"^\| `.+` \|  \|$", "\n".join(tables().values()), re.M)
