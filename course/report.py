"""A report on one exercise: what `check`, the grade, the feedback page and `attention check --json` say of it.

The order is that of a good compiler's error: one sentence that says what is wrong, the smallest case that shows it, one
thing to look at. Points for each requirement and all other failing cases are folded.

Does not cover: HTML (`report_html`), who finds the sentences (`course.notebook.check`, `grading.grader`).
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# status -> mark, word, tone (a class of `report_style`)
MARKS = {
    "right": ("✓", "right", "good"),
    "passes": ("☑", "passes", "good"),  # in `check`; "right" in a grade
    "partly right": ("◐", "partly right", "part"),
    "wrong": ("✗", "not right yet", "bad"),
    "not started": ("○", "not started", "plain"),
    "not allowed": ("⊘", "not allowed", "bad"),
    "not reached": ("–", "not reached", "plain"),
    "needs a person": ("!", "needs a person", "person"),
}
# The text's colour: that of the front end, or of the page around it
INK = "var(--jp-content-font-color1, var(--vscode-editor-foreground, currentColor))"
GREY = f"color-mix(in srgb, {INK} 75%, transparent)"
ONE_LINE = ("right", "passes", "not started")
SPOKEN = ("not started", "not allowed", "not reached", "needs a person")  # statuses that points do not show
POINTS = "points"
STEP, EXPERIMENT = "step", "experiment"
UNGRADED = {STEP: "a step, without points", EXPERIMENT: "not graded"}  # in place of a unit: what has no points
MIME = "application/vnd.attention-course.report+json"
STATIC_PAGE_ENV = "ATTENTION_COURSE_ON_A_PAGE"
VERSION = 1  # of the record; docs/json.md has its fields
WIDTH = 98  # of wrapped sentences
NBGRADER = "NBGRADER_EXECUTION"  # set where nbgrader runs a notebook: "autograde" or "validate"
# For consoles without these characters
PLAIN = str.maketrans({"✓": "+", "☑": "+", "◐": "~", "✗": "x", "○": "o", "⊘": "x", "–": "-", "…": "..."})


class Points(float):
    """Points earned; prints as a plain float, which nbgrader reads from the output."""

    total: float

    def __new__(cls, earned: float, total: float) -> Points:
        points = super().__new__(cls, earned)
        points.total = total
        return points

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _ipython_display_(self) -> None:
        """Show nothing: the report above has the points. nbgrader reads the output, so there it is shown as text."""
        if NBGRADER in os.environ:
            raise NotImplementedError


@dataclass
class Example:
    """A failing case.

    call      as it could be typed, or with shapes in place of large tensors
    problem   what is wrong with it, where `expected` and `got` do not say it
    expected, got  the two values as text; "": not shown
    marks     start and end of each wrong entry in both of them; empty: all of it is wrong
    code      the learner's lines that raised an exception, with the values in the last of them
    printed   what the call printed
    """

    call: str
    problem: str = ""
    expected: str = ""
    got: str = ""
    marks: list[tuple[int, int]] = field(default_factory=list)
    code: str = ""
    printed: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Example:
        return cls(**{**data, "marks": [(start, end) for start, end in data.get("marks", ())]})

    def lines(self) -> Iterator[str]:
        """The case as text: the call, and what is wrong with it, indented."""
        yield from self.call.splitlines()
        yield from (f"    {line}" for line in self.problem.splitlines())
        if self.expected:
            yield f"    expected {self.expected}"
            yield f"         got {self.got}"
        if self.marks:
            carets = [" "] * max(end for _, end in self.marks)
            for start, end in self.marks:
                carets[start:end] = "^" * (end - start)
            yield f"{' ' * 13}{''.join(carets)}"
        yield from (f"    {line}" for line in self.code.splitlines())
        if self.printed:
            yield "    printed:"
            yield from (f"      {line}" for line in self.printed.splitlines())


@dataclass
class Row:
    """A criterion or a visible example, with its failing cases; `status` is a key of MARKS."""

    name: str
    status: str
    points: str = ""
    cases: list[Example] = field(default_factory=list)


@dataclass
class CodeNote:
    """Lines of code or of its output, under a short title."""

    title: str
    text: str


@dataclass
class Report:
    """A report on one exercise.

    headline  one sentence: what is wrong
    example   the smallest case that shows it
    advice    one thing to do, and `see`, the section of the lesson to look at
    ask       the call that gives more help
    notes     sentences that are needed to understand the report
    rows, output, details  folded: criteria and examples, other calls' output, sentences
    unfolded  whether the rows are the report, as those of a lesson are
    """

    exercise: str
    status: str
    earned: float
    points: float
    headline: str = ""
    example: Example | None = None
    advice: str = ""
    see: str = ""
    ask: str = ""
    notes: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    output: list[CodeNote] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    unit: str = POINTS
    unfolded: bool = False

    @property
    def head(self) -> str:
        """The points, and the status where the points do not show it; follows the exercise's name."""
        word = MARKS[self.status][1]
        if self.unit in UNGRADED:
            return f"{word} ({UNGRADED[self.unit]})"
        if self.status == "not started":
            return word
        if not self.points:
            return "not checked"
        unit = self.unit.removesuffix("s") if self.points == 1 else self.unit
        points = f"{self.earned:g} of {self.points:g} {unit}"
        if self.status == "needs a person":
            return f"{word}, {self.points:g} {unit} open"
        return f"{word}, {points}" if self.status in SPOKEN else points

    @property
    def folded(self) -> bool:
        """Whether there is more than is shown at first."""
        return bool(self.output or self.details or (self.rows and not self.unfolded))

    def to_text(self, everything: bool = False, more: str = "") -> str:
        """The report as lines of text.

        everything  also what is folded
        more        how to see that, for the last line
        """
        first = f"{MARKS[self.status][0]} {self.exercise}: {self.head}"
        if self.status in ONE_LINE and not self.unfolded:
            lines = [f"{first}. {self.headline}" if self.headline else first]
            more = ""
        else:
            lines = [first, *_wrapped(self.headline)]
        lines += [f"  {line}" for line in self.example.lines()] if self.example else []
        lines += _wrapped(self.advice)
        lines += [line for note in self.notes for line in _wrapped(note)]
        whole = everything or self.unfolded
        last = [f"Look at: {self.see}"] if self.see else []
        last += [more] if more and self.folded and not whole else []
        last += [f"Stuck? {self.ask}"] if self.ask else []
        lines += [f"  {line}" for line in (["  ".join(last)] if len("  ".join(last)) <= WIDTH else last) if line]
        return "\n".join([*lines, *(self._folded_lines() if whole else ())])

    def _folded_lines(self) -> Iterator[str]:
        for row in self.rows:
            yield f"  {MARKS[row.status][0]} {row.name}{f' ({row.points})' if row.points else ''}"
            yield from (f"      {line}" for case in row.cases for line in case.lines())
        for note in self.output:
            yield from (f"  {note.title}", *(f"      {line}" for line in note.text.splitlines()))
        for text in self.details:
            yield from _wrapped(text)

    def to_json(self) -> dict[str, Any]:
        """The record `report` of docs/json.md."""
        return {
            "version": VERSION,
            "exercise": self.exercise,
            "status": self.status,
            "points": self.earned,
            "most": self.points,
            "unit": self.unit,
            "headline": self.headline,
            "example": asdict(self.example) if self.example else {},
            "advice": self.advice,
            "section": self.see,
            "notes": self.notes,
            "criteria": [asdict(row) for row in self.rows],
            "output": [asdict(note) for note in self.output],
            "details": self.details,
        }

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from .report_html import to_html

        return {"text/html": to_html(self), "text/plain": self.to_text(), MIME: self.to_json()}

    def __repr__(self) -> str:
        return self.to_text()


def without_repetition(example: Example, *said: str) -> Example:
    """Leave out of the problem what the report's sentences say already."""
    if "is the `return` missing?" in " ".join(said).lower():
        example.problem = example.problem.removesuffix("; is the `return` missing?")
    problem, others = _bare(example.problem), [_bare(text) for text in said if text]
    message = _bare(re.sub(r"^.*? raised \w+: (?:\S+\(\) )?", "", example.problem))
    if message and any(message in text or text in problem for text in others):
        example.problem = ""
    return example


def _bare(text: str) -> str:
    """The words of a text, without quotation marks and the period."""
    return re.sub(r"[`'\"]", "", text).strip(" .").lower()


def display(shown: Report, everything: bool = False, more: str = "") -> None:
    """Show a report: in a notebook with all that it holds, as text elsewhere (see `Report.to_text`)."""
    if in_notebook():
        from IPython.display import display as show

        show(shown)
    else:
        write(shown.to_text(everything, more))


def write(text: str) -> None:
    """Print a text, also to a terminal that lacks the marks."""
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.translate(PLAIN).encode("ascii", "replace").decode())


def display_html(page: str, words: str) -> None:
    """Show HTML in IPython; else, and in front ends without HTML, show `words`."""
    if shell() is None:
        write(words)
        return
    from IPython.display import display as show

    show({"text/html": page, "text/plain": words}, raw=True)


def display_markdown(text: str) -> None:
    """Show a few sentences: formatted in a notebook, plain elsewhere."""
    if in_notebook():
        from IPython.display import Markdown
        from IPython.display import display as show

        show(Markdown(text))
    else:
        print(text.replace("**", ""))


def rendering_static_page() -> bool:
    """Whether output is for a page of the site, which has no kernel (`grading site` sets the variable)."""
    return bool(os.environ.get(STATIC_PAGE_ENV))


def in_notebook() -> bool:
    """Whether a front end that shows HTML is connected."""
    return hasattr(shell(), "kernel")


def shell() -> Any:
    """IPython's shell; None where IPython does not run."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)
