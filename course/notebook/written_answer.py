"""`%%answer NAME`: a cell for an answer in prose to one of the lesson's written questions.

If the question has no points, the cell shows the rubric and a model answer once the learner has written something. If
it has points, the build writes them into the first line, and a person grades the answer.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from ..report import display_markdown
from . import catalog

STUB = "YOUR ANSWER HERE"  # nbgrader's stub; IPython raises an error for a cell with nothing below its first line
LINE = re.compile(r"\s*(?P<name>\w*)\s*(?P<points>\(.*point.*\))?.*")  # what follows `%%answer`


def register_answer_magic(shell: Any, lesson: str) -> None:
    """Register the cell magic `%%answer` of a lesson in an IPython shell."""
    shell.register_magic_function(partial(show_answer, lesson), "cell", "answer")


def show_answer(lesson: str, line: str, cell: str) -> None:
    """Show the answer in a cell, and what to compare it with.

    The comparison is left out if the question has points. Never raises.

    line, cell  what is written after `%%answer`, and below
    """
    found = LINE.fullmatch(line)
    name, points = (found["name"], found["points"]) if found else ("", None)
    text = "\n".join(line for line in cell.splitlines() if line.strip() != STUB).strip()
    if not text:
        print("Write your answer below the first line of this cell, in your own words, then run the cell again.")
        return
    parts = [f"**Your answer**\n\n{text}"]
    if points:
        parts.append("*Save the notebook. A person grades this answer after you have handed it in.*")
    else:
        parts.append(_comparison(lesson, name))
    display_markdown("\n\n---\n\n".join(parts))


def _comparison(lesson: str, name: str) -> str:
    """Return a question's rubric and model answer as Markdown, or why there are none."""
    try:
        questions = catalog.questions_of(lesson)
    except ValueError:
        return f"*The file with the questions of {lesson} cannot be read: install the course again.*"
    question = questions.get(name)
    if question is None:
        known = ", ".join(questions) or "none"
        return (
            f"*There is nothing to compare it with: the lesson has no question called {name!r} (questions: {known}).*"
        )
    gains = [f"- {item['text']}" for item in question["rubric"] if item["points"] > 0]
    losses = [f"- {item['text']}" for item in question["rubric"] if item["points"] < 0]
    parts = ["**Compare.** Which of these are true of your answer?", "\n".join(gains)]
    if losses:
        parts += ["These would be mistakes:", "\n".join(losses)]
    return "\n\n".join([*parts, f"**A model answer**\n\n{question['model_answer']}"])
