"""`predict`: a guess before the answer, as HTML and as text.

The answers are data of the lesson (`NN_lesson.predictions`); the notebook keeps the guess. Nothing here raises: a
notebook runs from top to bottom whatever is guessed. A mark and a word show whether a guess is right, not only a
colour. Nothing of the answer is shown before a guess.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from typing import Any

from ..report import MARKS, WIDTH, display_html, rendering_static_page, write
from ..report_html import STYLE, inline_markdown
from . import catalog
from .guess import Unreadable, answer_in_words, describe_guess, judge, shorten
from .session import Session, current

NO_GUESS = "No guess yet. Put yours in place of the dots"
SHOW = "?"  # in place of a guess: shows the answer


@dataclass
class Prediction:
    """A prediction as it is shown.

    name       as `predict` calls it
    wanted     what a guess may be, in words
    result     what the code computed, as text; "": not shown
    agrees     whether the result says what the answer says, so that one of them is enough
    guess      the learner's, as text; "" if there is none
    given_up   whether the learner asked for the answer in place of a guess
    problem    why the guess cannot be one, in a sentence
    why_wrong  the author's sentence about a wrong guess
    """

    name: str
    wanted: str
    answer: str
    because: str
    result: str = ""
    agrees: bool = False
    guess: str = ""
    given_up: bool = False
    right: bool = False
    problem: str = ""
    why_wrong: str = ""

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
        if self.guess:
            return f"You predicted `{self.guess}`: {'right' if self.right else 'not right'}."
        if self.given_up:
            return f"The answer is `{self.answer}`."
        return f'{NO_GUESS}: {self.wanted}; `"{SHOW}"` shows the answer.'

    @property
    def rest(self) -> list[str]:
        """The answer and the sentences about it, after a guess."""
        if self.guess or self.given_up:
            return self.explanation
        return []

    @property
    def explanation(self) -> list[str]:
        said = self.given_up or (bool(self.guess) and self.right)
        answer = [] if said or self.agrees else [f"The answer is `{self.answer}`."]
        result = [f"The result is `{self.result}`."] if self.result and not (said and self.agrees) else []
        return [*result, *answer, *filter(None, (self.why_wrong, self.because))]


def to_html(shown: Prediction) -> str:
    mark, word, tone = MARKS[shown.status]
    spoken = f'<span class="attn-mark" title="{word}" aria-hidden="true">{mark}</span>'
    label = f'class="attn-report attn-{tone}" role="group" aria-label="Prediction: {escape(shown.name)}"'
    head = f'<p class="attn-head">{spoken} <b>{escape(shown.name)}</b>: {inline_markdown(shown.first)}</p>'
    rest = _paragraphs(shown.rest)
    if not rest and rendering_static_page():  # where nobody can guess
        rest = f"<details><summary>Answer</summary>{_paragraphs(shown.explanation)}</details>"
    return f"<div {label}>{head}{rest}</div>\n<style>{STYLE}</style>"


def _paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{inline_markdown(text)}</p>" for text in texts)


def to_text(shown: Prediction) -> str:
    lines = [f"{MARKS[shown.status][0]} {shown.name}: {shown.first}"]
    for text in shown.rest:
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines)


NO_RESULT = object()


def predict(question: str, guess: Any = ..., result: Any = NO_RESULT) -> None:
    """Compare a guess with the answer, and show both. Never raises.

    guess   replaces the dots: one of the answers in the comment above the call, a number, a shape or one line of code;
            "?" shows the answer without a guess
    result  what the code computes, shown beside the guess
    """
    try:
        shown = _predicted(current(), question, guess, result)
        if isinstance(shown, str):
            write(shown)
        else:
            display_html(to_html(shown), to_text(shown))
    except Exception as error:
        print(f"This prediction cannot be shown: {type(error).__name__}: {error}")


def _predicted(session: Session, question: str, guess: Any, result: Any) -> Prediction | str:
    """The prediction with its guess; a sentence if the lesson has no such prediction."""
    lesson = session.lesson
    if lesson is None:
        return 'No lesson has started: run the cell with `begin("…")` first.'
    try:
        known = catalog.predictions_of(lesson).get(question)
    except ValueError:
        return f"The file with the predictions of {lesson} cannot be read: install the course again."
    if known is None:
        return (
            f"Version {version('attention-course')} of the course has no prediction called {question!r} in {lesson}. "
            "Run the notebook's first cell, which installs the version that this notebook needs."
        )
    made = Prediction(question, describe_guess(known), answer_in_words(known), str(known["because"]))
    if result is not NO_RESULT:
        made.result, made.agrees = shorten(result), _is_answer(session, known, result)
    if guess is ... or guess is None:
        return made
    if isinstance(guess, str) and guess.strip() == SHOW:
        made.given_up = True
        return made
    try:
        judged = judge(known, guess, session.names)
    except Unreadable as error:
        made.problem = str(error)
        return made
    made.guess, made.right, made.why_wrong = judged.text, judged.right, judged.why_wrong
    return made


def _is_answer(session: Session, known: Mapping[str, Any], result: Any) -> bool:
    """Whether a result of the code says what the answer says."""
    try:
        return not isinstance(result, str) and judge(known, result, session.names).right
    except Unreadable:
        return False
