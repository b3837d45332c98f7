"""How much a lesson asks of a learner: ratings of exercises, words, lines and minutes, counted in its notebook.

An author rates each exercise and the experiment, in one line above the answer's cell:

    *Difficulty ★★☆, importance ●●○, about 8 minutes.*

The build adds the points of the grade to this line, and the minutes of the whole lesson to the line `**Time:**` in its
first cell. A part is *extra* from a heading, or in a fold with a summary, that ends with "(extra)". A cell that takes
more than five seconds says so in a comment: `# Takes about 40 seconds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from ..errors import BuildError
from ..notebooks.cells import check_of, grade_id, visible
from .student_install import SET_UP

RATING = re.compile(r"^\*Difficulty (?:★☆☆|★★☆|★★★), importance (?:●○○|●●○|●●●), about (\d+) minutes?", re.MULTILINE)
TIME = re.compile(r"^\*\*Time:\*\*.*$", re.MULTILINE)
EXTRA, FOLD = "(extra)", 7  # the end of a title; a level below that of all headings
EXTRA_FOLD = re.compile(rf"<details><summary>[^<]*{re.escape(EXTRA)}</summary>.*?</details>", re.DOTALL)
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.*?) *$", re.MULTILINE)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
STUB = re.compile(r"^ +raise NotImplementedError", re.MULTILINE)
DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
PREDICTION = re.compile(r"^predict\(", re.MULTILINE)
WAIT = re.compile(r"^#.*\btakes about (\d+) seconds", re.MULTILINE | re.IGNORECASE)
REPORT = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull|discussions|commit)/")
WORDS, LINES = 130, 15  # read in a minute
SLOW = 1.4  # minutes that an exercise takes, for each of its rating


@dataclass
class Part:
    """The effort of a part of a lesson: words, answers, rated minutes, predictions, given lines, seconds to wait."""

    words: int = 0
    answers: list[str] = field(default_factory=list)
    rated: int = 0
    predictions: int = 0
    given: int = 0
    waiting: int = 0

    @property
    def minutes(self) -> float:
        return self.words / WORDS + SLOW * self.rated + self.predictions + self.given / LINES + self.waiting / 60


@dataclass
class Effort:
    """The effort that a lesson takes, in its core and in its extra parts.

    graded   exercises with points
    hidden   lines that are folded, those of the first code cell among them
    first    lines of the first code cell, which installs the package
    bugs     repositories whose reports the text links
    longest  seconds that the slowest cell takes
    """

    core: Part = field(default_factory=Part)
    extra: Part = field(default_factory=Part)
    graded: int = 0
    hidden: int = 0
    first: int = 0
    bugs: set[str] = field(default_factory=set)
    longest: int = 0

    @property
    def core_minutes(self) -> int:
        """The minutes of the core as they are stated, in steps of five."""
        return _in_fives(self.core.minutes)

    @property
    def all_minutes(self) -> int:
        """The minutes of the whole lesson as they are stated."""
        return _in_fives(self.core.minutes + self.extra.minutes)

    @property
    def stated(self) -> str:
        """How long a lesson takes, for its head."""
        extra = f", or {self.all_minutes} with the parts marked *extra*" * bool(self.extra.words)
        return f"about {self.core_minutes} minutes{extra}"


def _in_fives(minutes: float) -> int:
    return 5 * max(1, round(minutes / 5))


def effort_of(notebook: NotebookNode) -> Effort:
    """Count a notebook's cells, which have their kinds as tags."""
    found, level = Effort(), 0  # of the heading of an extra part; 0 in the core
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            pieces = list(_divided(cell.source, level))
            for text, of_text in pieces:
                _read(text, found.extra if of_text else found.core)
            level = pieces[-1][1]
            found.bugs.update(REPORT.findall(cell.source))
        else:
            _count_code(cell, found, found.extra if level else found.core)
    return found


def _divided(source: str, level: int) -> Iterator[tuple[str, int]]:
    """The pieces of a text, each with the level of the heading of the extra part that it is in, 0 in the core."""
    source = TIME.sub("", source)
    yield " ".join(EXTRA_FOLD.findall(source)), level or FOLD
    source = EXTRA_FOLD.sub("", source)
    without_code = FENCED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)
    start = 0
    for heading in HEADING.finditer(without_code):
        yield source[start : heading.start()], level
        start = heading.start()
        if not level or len(heading[1]) <= level:
            level = len(heading[1]) if heading[2].endswith(EXTRA) else 0
    yield source[start:], level


def _read(text: str, part: Part) -> None:
    part.words += len(FORMULA.sub("formula", text).split())
    part.rated += sum(map(int, RATING.findall(text)))


def _count_code(cell: NotebookNode, found: Effort, part: Part) -> None:
    lines = sum(bool(line.strip()) for line in visible(cell.source).splitlines())
    seconds = max(map(int, WAIT.findall(cell.source)), default=0)
    found.first += lines if cell.get("id") == SET_UP else 0
    if cell.metadata.get("cellView") == "form":
        found.hidden += lines
    elif not _is_written(cell):
        part.given += lines
    part.predictions += len(PREDICTION.findall(cell.source))
    part.waiting += seconds
    found.longest = max(found.longest, seconds)
    if is_answer(cell):
        part.answers += DEFINED.findall(cell.source)[:1]
    found.graded += bool(cell.metadata.get("nbgrader", {}).get("points"))


def is_answer(cell: NotebookNode) -> bool:
    """Whether an exercise's answer is written in this cell."""
    marks = cell.metadata.get("nbgrader", {})
    solution = marks.get("solution") and not marks.get("grade")
    return cell.cell_type == "code" and bool(solution or (not marks and STUB.search(cell.source)))


def _is_written(cell: NotebookNode) -> bool:
    """Whether the learner writes in this cell."""
    return "experiment" in cell.metadata.get("tags", []) or is_answer(cell) or cell.source.startswith("%%answer")


def check_ratings(notebook: NotebookNode, text: Path) -> None:
    """Check that each exercise is rated. Raises BuildError."""
    rated = False
    for cell in notebook.cells:
        rated |= cell.cell_type == "markdown" and bool(RATING.search(cell.source))
        if is_answer(cell):
            if not rated:
                first = cell.source.partition("\n")[0]
                raise BuildError(
                    f"{text.name}: the cell {first!r} is an exercise without a rating. Write one into the text above "
                    "it, such as *Difficulty ★☆☆, importance ●●○, about 5 minutes.*"
                )
            rated = False


def state_effort(notebook: NotebookNode) -> None:
    """Write the points of each exercise, and the minutes of the whole lesson, into a notebook."""
    points = {grade_id(cell): cell.metadata.nbgrader.get("points") for cell in notebook.cells if grade_id(cell)}
    texts = list[NotebookNode]()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            texts.append(cell)
        elif is_answer(cell):
            _state_points(texts, points.get(check_of(grade_id(cell))))
            texts = []
    _state_points(texts, None)
    for cell in notebook.cells[:1]:
        cell.source = TIME.sub(f"**Time:** {effort_of(notebook).stated}", cell.source)


def _state_points(texts: list[NotebookNode], points: float | None) -> None:
    """Add points to the last rating of the texts above an answer; others are of an experiment, which has none."""
    worth = f"{points:g} point{'s' * (points != 1)}" if points else "no points"
    for cell in reversed(texts):
        for rating in reversed(list(RATING.finditer(cell.source))):
            cell.source = f"{cell.source[: rating.end()]}, {worth}{cell.source[rating.end() :]}"
            worth = "no points"
