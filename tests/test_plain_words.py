"""Every sentence that a person reads is spelt right and free of the idiom that docs/style.md replaces.

Sentences are collected from the code (strings and docstrings), from templates and from documents. The text of the
lessons in source/ has its own tests.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .support.repository import ROOT

PLACES = "in|at|on|there|here|above|below|beside|before|behind|under|between"
NO_MATTER = r"longer\b|more\b|less\b|\w+ (?:left|for|in|on|to|at)\b"
#: Idiom -> what to write instead (docs/style.md has the reasons)
IDIOM = {
    r"(?:^|[.:;!] |\n)Who(?:ever)? (?!is\b|are\b|was\b)\w+\b[^?\n]*$": "If you … / Students who …",
    r"(?:^|[.;!] |\n)What (?!is |are |to |does |do |did |if |can )\w+[^?.\n]*[.;]": "a noun: The report lists …",
    rf"\b(?:stands?|stood|lies|lay|lying) (?:{PLACES})\b": "is",
    r"\b(?:is|are|was|were|be) told\b|\btold (?:of|by|with|here|once)\b": "is reported, is shown, gets",
    r"\btells? (?:of|what|how|which|where|whether|why)\b": "explains, describes, says",
    r"\b(?:anew|meanwhile|lately|therein|thereof)\b": "again; in the meantime; recently",
    r"\bin the place of\b|\b(?:takes?|took) the place of\b": "instead of, replaces",
    r"\b(?:is|are|was) another than\b": "differs from",
    rf"(?:[`'\"}}]|\bit|\bthat|\bwhich) (?:is|are) no (?!{NO_MATTER})[a-z]+": "is not a …",
    r"\b(?:is an? [^.,]*|has [^.,]*), and must (?:be|have)\b": "expected …, got …",
    r"\bone (?:row|number|column|vector|query|line|file|page|entry) an? [a-z]+": "one … per …",
    r"\bAll else\b|\beverything else is as\b": "Otherwise …; the rest …",
    r"\bas it (?:stands|came|comes)\b(?! in| out)": "unchanged",
    r"\b(?:came|comes?) over\b": "is copied; wraps around",
    r"\bpass(?:es|ed) over\b": "skip",
    r"\bnobody's\b|\bfor whom\b": "no student's; who …",
    r"\b(?:Asked for|Not allowed|Left out) (?:is|are)\b|\bGiven, it\b": "subject first: You may not use …",
    r"\bthe trail\b|\b(?:a|the|each|every) bunch\b": "computation graph; batch",
    r"\b[Mm]end (?:it|the (?:file|case))\b": "correct the …",
    r"\bis said\b|\bsaid here\b": "names who does it",
}
DOCUMENTS = ("*.md", "docs/*.md", "docs/contracts/*.md", ".github/**/*.md")
SKIPPED = {
    "docs/style.md": "shows the idiom beside what replaces it",
}


@cache
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    return [name for name in listed if name]


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module with three words or more, f-strings with {x} for what they fill in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(map(id, node.values))
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "{x}" for v in node.values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.value


def _sentences() -> Iterator[tuple[str, str]]:
    for name in tracked():
        path = ROOT / name
        if name in SKIPPED or not path.is_file():
            continue
        if name.startswith(("course/", "grading/", "grader_tests/")) and path.suffix == ".py":
            yield from ((f"{name}:{line}", text) for line, text in strings(path) if text.count(" ") >= 2)
        elif name.startswith("grading/") and path.suffix in (".j2", ".js", ".toml"):
            yield name, path.read_text(encoding="utf-8")
    for pattern in DOCUMENTS:
        for path in sorted(ROOT.glob(pattern)):
            if (name := path.relative_to(ROOT).as_posix()) not in SKIPPED:
                yield name, path.read_text(encoding="utf-8")


@cache
def sentences() -> list[tuple[str, str]]:
    """Where each text is, and the text."""
    return list(_sentences())


@pytest.mark.parametrize(("idiom", "better"), IDIOM.items(), ids=range(len(IDIOM)))
def test_no_sentence_has_the_idiom(idiom, better):
    found = [
        f"{where}: …{text[max(0, m.start() - 40) : m.end() + 40]!r}"
        for where, text in sentences()
        for m in re.finditer(idiom, text, re.MULTILINE)
    ]
    assert not found, f"write instead: {better}\n" + "\n".join(found)


def test_the_idiom_is_found_where_it_is():
    samples = (
        "Who writes in a file types `attention check`.",
        "the gradient lies in `.grad`",
        "`x` is no exercise",
        "is a list of 3, and must be a tensor",
        "is told once with what to do",
    )
    for sample in samples:
        assert any(re.search(idiom, sample, re.MULTILINE) for idiom in IDIOM), sample


def test_every_word_is_spelt_right():
    files = [
        name
        for name in tracked()
        if Path(name).suffix in (".py", ".md", ".j2", ".css", ".js", ".toml", ".yml", ".cff")
        and not name.startswith(("tests/", "grading/plugins/site/katex_files/"))
    ]
    found = subprocess.run([sys.executable, "-m", "codespell_lib", *files], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
