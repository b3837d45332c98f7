"""A prediction as HTML and as text.

A mark and a word show whether a guess is right, not only a colour. Nothing of the answer is shown before a guess.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape

from ..report import MARKS, WIDTH, rendering_static_page
from ..report_html import STYLE, inline_markdown

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
