"""Predictions as HTML and as text.

A mark and a word show whether a guess is right, not only a colour. An answer to which there is no guess yet is folded.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..report import MARKS, WIDTH
from ..report_html import STYLE, inline_markdown

NO_GUESS = "No guess yet. Put yours in place of the dots"


@dataclass
class Prediction:
    """A prediction as it is shown.

    name       as `predict` calls it
    wanted     what a guess may be, in words
    result     what the code computed, as text; "": not shown
    agrees     whether the result says what the answer says, so that one of them is enough
    guess      the learner's, as text; "" if there is none yet
    problem    why the guess cannot be one, in a sentence
    why_wrong  the author's sentence about a wrong guess
    lesson, asked, folded  for a review: the lesson, the question as the lesson asks it, and whether all is folded
    """

    name: str
    wanted: str
    answer: str
    because: str
    result: str = ""
    agrees: bool = False
    guess: str = ""
    right: bool = False
    problem: str = ""
    why_wrong: str = ""
    lesson: str = ""
    asked: str = ""
    folded: bool = False

    @property
    def status(self) -> str:
        if not self.guess:
            return "not started"
        return "right" if self.right else "wrong"

    @property
    def first(self) -> str:
        """One line: the guess and whether it is right, or what to do."""
        if self.problem:
            return f"{self.problem} You can answer {self.wanted}."
        if not self.guess:
            return f"{NO_GUESS}: {self.wanted}."
        return f"You predicted `{self.guess}`: {'right' if self.right else 'not right'}."

    @property
    def rest(self) -> list[str]:
        """The answer and the sentences about it."""
        said = bool(self.guess) and self.right
        answer = [] if said or self.agrees else [f"The answer is `{self.answer}`."]
        result = [f"The result is `{self.result}`."] if self.result and not (said and self.agrees) else []
        return [*result, *answer, *filter(None, (self.why_wrong, self.because))]


def to_html(predictions: Sequence[Prediction]) -> str:
    return "\n".join([*map(_one, predictions), f"<style>{STYLE}</style>"])


def _one(shown: Prediction) -> str:
    mark, word, tone = MARKS[shown.status]
    spoken = f'<span class="attn-mark" title="{word}" aria-hidden="true">{mark}</span>'
    label = f'class="attn-report attn-{tone}" role="group" aria-label="Prediction: {escape(shown.name)}"'
    rest = "".join(f"<p>{inline_markdown(text)}</p>" for text in shown.rest)
    if shown.folded:
        summary = f"<summary>From {escape(shown.lesson.replace('_', ' '))}: {escape(shown.name)}</summary>"
        asked = f"<p>{inline_markdown(shown.asked)}</p>" if shown.asked else ""
        said = f"{asked}<p>{spoken} {inline_markdown(shown.first)}</p>{rest}"
        return f"<div {label}><details>{summary}{said}</details></div>"
    head = f'<p class="attn-head">{spoken} {inline_markdown(shown.first)}</p>'
    if not shown.guess:
        rest = f"<details><summary>Answer</summary>{rest}</details>"
    return f"<div {label}>{head}{rest}</div>"


def to_text(predictions: Sequence[Prediction]) -> str:
    return "\n".join(line for shown in predictions for line in _lines(shown))


def _lines(shown: Prediction) -> list[str]:
    title = f"{shown.lesson.replace('_', ' ')}, {shown.name}" if shown.lesson else shown.name
    first = f"{MARKS[shown.status][0]} {title}: {shown.first}"
    texts = [*filter(None, [shown.asked]), *shown.rest] if shown.guess else []
    wrapped = [
        line for text in texts for line in textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
    ]
    return [first, *wrapped]
