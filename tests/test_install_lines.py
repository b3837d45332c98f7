"""Lines that install our packages, in documents, files and messages, name what exists: a wheel, or the checkout.

No package index has our packages. A line with their names would fail, or install a stranger's package.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from .support.installed import described
from .support.repository import ROOT

OURS = ("attention-course", "attention-course-teach")
LEFT_OUT = ("tests/", "release/", "course/examples/", "CHANGELOG.md")  # what is built from the others; history
COMMAND = re.compile(r"\b(?:pip3?|pipx|uv(?: pip| tool)?) (?:install|add)\b")
BY_NAME = re.compile(r"attention[-_]course([-_]teach)?(\[[\w,]+\]|[=~<>!]=)")  # as in a message without a command
FOLDER = re.compile(r"\.(?P<folder>(/[\w-]+)?)(\[(?P<extras>[\w,]+)\])?")
WITH_VALUE = ("-c", "-r", "--index-url", "--extra-index-url", "--python")


def install_lines(text: str) -> Iterator[list[str]]:
    """What each command that installs is to install, without its options."""
    text = text.replace("\\\n", " ")
    for found in COMMAND.finditer(text):
        quoted = text[text.rfind("\n\n", 0, found.start()) + 1 : found.start()].replace("```", "").count("`") % 2
        line = text[found.end() :].partition("`" if quoted else "\n")[0]
        try:
            words = shlex.split(re.split(r"&&|\|\||[;|]", line)[0], comments=True)
        except ValueError:  # a sentence with an apostrophe
            words = line.split()
        yield [
            word
            for before, word in zip(["", *words], words, strict=False)
            if not word.startswith("-") and before not in WITH_VALUE
        ]


@cache
def texts() -> list[tuple[str, str]]:
    """Each tracked text file with its name."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.rstrip("\0").split("\0") if not name.startswith(LEFT_OUT)]
    contents = [(name, (ROOT / name).read_bytes()) for name in names if (ROOT / name).is_file()]
    return [(name, content.decode()) for name, content in contents if b"\0" not in content]


@cache
def all_lines() -> set[tuple[str, ...]]:
    return {tuple(words) for _, text in texts() for words in install_lines(text)}


def name_of(word: str) -> str:
    try:
        return canonicalize_name(Requirement(word).name)
    except InvalidRequirement:
        return ""


def wheels_of(word: str, wheels: dict[str, Path]) -> set[str]:
    """The packages whose wheels a word stands for; none if it is something else. The wheels have its extras."""
    path, _, extras = word.rstrip("]").partition("[")
    if not path.endswith(".whl"):
        return set()
    pattern = Path(path).name.replace("${VERSION}", described(wheels["course"]).version)
    assert not (extras and "*" in pattern), f"a shell takes the brackets for a pattern: {word}"
    found = {package for package, wheel in wheels.items() if fnmatch(wheel.name, pattern)}
    assert found, f"no wheel is called {pattern}"
    for package in found if extras else ():
        assert set(extras.split(",")) <= set(described(wheels[package]).metadata.get_all("Provides-Extra", [])), word
    return found


def problems(name: str, text: str) -> list[str]:
    """Why the text may not stay, each with the line."""
    named = [f"{name}: {found[0]}" for found in BY_NAME.finditer(text) if not name.endswith("pyproject.toml")]
    for words in install_lines(text):
        named += [f"{name}: pip install {' '.join(words)}" for word in words if name_of(word) in OURS]
    return named


def test_no_line_installs_our_packages_by_their_names():
    assert [problem for name, text in texts() for problem in problems(name, text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "    pip install attention-course",
        "run `python -m pip install -c constraints.txt\nattention_course_teach` there",
        'RUN uv pip install --no-cache-dir "attention-course-teach[cluster]==${VERSION}" # there',
        "Install attention-course-teach[cluster]==0.2.0 there.",
    ],
)
def test_a_line_with_a_name_of_ours_is_found(text):
    assert problems("docs/hub.md", text)


def test_each_wheel_that_a_line_installs_is_one_that_we_build_with_its_extras(wheels):
    found = [[(word, package) for word in line for package in wheels_of(word, wheels)] for line in all_lines()]
    assert {package for line in found for _, package in line} == {"course", "grading"}
    # without the student's wheel, pip would look for it on an index; with an extra, both are there already
    assert [line for line in found if [package for _, package in line] == ["grading"] and "[" not in line[0][0]] == []


def test_the_checkout_has_each_folder_and_extra_that_a_line_installs():
    lines = all_lines()
    ours = [[found for word in line if (found := FOLDER.fullmatch(word))] for line in lines]
    projects = {"": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]}
    projects["/grading"] = tomllib.loads((ROOT / "grading" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [[(one["folder"], set(filter(None, (one["extras"] or "").split(",")))) for one in line] for line in ours]
    for line in filter(None, asked):
        assert all(extras <= projects[folder]["optional-dependencies"].keys() for folder, extras in line)
        folders = {folder for folder, _ in line}
        assert folders == {"", "/grading"} or line == [("", set())], line  # pip would look for the other on the index
