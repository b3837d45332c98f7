"""`predict`: a guess before the answer.

The answers are data of the lesson (`NN_lesson.predictions`); the notebook keeps the guess. Nothing here raises: a
notebook runs from top to bottom whatever is guessed.

Does not cover: comparing a guess with the answer (`guess`), HTML (`prediction_html`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from ..report import display_html, write
from . import catalog
from .given_values import Unreadable, in_short
from .guess import answer_in_words, judge, wanted
from .prediction_html import SHOW, Prediction, to_html, to_text
from .session import Session, current

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
    made = Prediction(question, wanted(known), answer_in_words(known), str(known["because"]))
    if result is not NO_RESULT:
        made.result, made.agrees = in_short(result), _is_answer(session, known, result)
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
