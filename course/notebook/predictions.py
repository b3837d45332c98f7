"""`predict`: a guess before the answer. `review`: the guesses of earlier lessons that were wrong.

The answers are data of the lesson (`NN_lesson.predictions`). The first guess at each is saved with the learner's
progress, and the notebook itself has the last. Nothing here raises: a notebook runs from top to bottom whatever is
guessed.

Does not cover: comparing a guess with the answer (`guess`), HTML (`prediction_html`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from ..report import display_html, write
from . import catalog, session
from .given_values import Unreadable, in_short
from .guess import answer_in_words, judge, wanted
from .prediction_html import Prediction, to_html, to_text
from .saved_progress import SavedGuess

NO_RESULT = object()
MOST = 3  # wrong predictions that `review` shows
NOTHING_WRONG = "No prediction of an earlier lesson to look at again."


def predict(question: str, guess: Any = ..., result: Any = NO_RESULT) -> None:
    """Keep a guess, and show the answer beside it. Never raises.

    guess   replaces the dots: one of the answers in the comment above the call, a number, a shape or one line of code
    result  what the code computes, shown beside the guess
    """
    try:
        shown = _predicted(question, guess, result)
        if isinstance(shown, str):
            write(shown)
        else:
            display_html(to_html([shown]), to_text([shown]))
    except Exception as error:
        print(f"This prediction cannot be shown: {type(error).__name__}: {error}")


def review() -> None:
    """Show up to three predictions of earlier lessons that were wrong, each folded. Never raises."""
    try:
        if found := _wrong_before():
            display_html(to_html(found), to_text(found))
        else:
            write(NOTHING_WRONG)
    except Exception as error:
        print(f"Your predictions cannot be read: {type(error).__name__}: {error}")


def _predicted(question: str, guess: Any, result: Any) -> Prediction | str:
    """The prediction with its guess, which is saved; a sentence if the lesson has no such prediction."""
    lesson = session.current.lesson
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
    made = _prediction(question, known)
    if result is not NO_RESULT:
        made.result, made.agrees = in_short(result), _is_answer(known, result)
    if guess is ... or guess is None:
        return made
    try:
        judged = judge(known, guess, session.current.names)
    except Unreadable as error:
        made.problem = str(error)
        return made
    session.current.store.record_guess(lesson, question, SavedGuess(judged.text, judged.right))
    made.guess, made.right, made.why_wrong = judged.text, judged.right, judged.why_wrong
    return made


def _prediction(question: str, known: Mapping[str, Any]) -> Prediction:
    return Prediction(question, wanted(known), answer_in_words(known), str(known["because"]))


def _is_answer(known: Mapping[str, Any], result: Any) -> bool:
    """Whether a result of the code says what the answer says."""
    try:
        return not isinstance(result, str) and judge(known, result, session.current.names).right
    except Unreadable:
        return False


def _wrong_before() -> list[Prediction]:
    """The wrong predictions of the lessons before this one, from the latest lesson back."""
    every, lesson = catalog.lessons(), session.current.lesson
    earlier = every[: every.index(lesson)] if lesson in every else []
    found = []
    for before in reversed(earlier):
        guesses = session.current.store.guesses.get(before, {})
        known = catalog.predictions_of(before) if guesses else {}
        for question, guess in guesses.items():
            if question in known and not guess.right:
                made = _prediction(question, known[question])
                made.lesson, made.asked, made.folded = before, str(known[question].get("question", "")), True
                made.guess, made.right = guess.guess, False
                found.append(made)
    return found[:MOST]
