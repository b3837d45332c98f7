"""Show the outcomes of a collection; those that need a person come last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grading.course_dir.course_time import shown as in_zone
from grading.submitted.submitted_dir import time_of

from .collection import ASKED, KEPT, LEFT, REPAIRED, REPLACED, SAME, SKIPPED, TAKEN, UNDECIDED, Outcome

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC")
ORDER = (SAME, TAKEN, REPAIRED, REPLACED, KEPT, LEFT, SKIPPED, UNDECIDED, ASKED)
STYLES = {SKIPPED: "red", UNDECIDED: "yellow", ASKED: "yellow"}
REMEDY = "Skipped: put the file that counts at submitted/<student>/{lesson}/{lesson}.ipynb yourself."
WHICH = (
    "Which counts? The file in submitted/ stays for now. Write keep or replace in the column "
    "choice of {choices}, then collect again; or collect with {options} to decide for all of "
    "them."
)


def show(
    outcomes: Sequence[Outcome], console: Console, questions: str, choices: str, options: str, zone: ZoneInfo
) -> None:
    """Print the outcomes, with times in the course's time zone; only count unchanged ones.

    questions, choices  paths of the tables for the teacher
    options             the command's options that decide for all files
    """
    shown = sorted(
        (outcome for outcome in outcomes if outcome.what != SAME),
        key=lambda outcome: (ORDER.index(outcome.what), outcome.lesson, outcome.student),
    )
    if shown:
        table = Table(box=None, pad_edge=False)
        for head in ("", "lesson", "student", "from", "handed in", ""):
            table.add_column(head, overflow="fold")
        for outcome in shown:
            what = Text(outcome.what, style=STYLES.get(outcome.what, ""))
            times = (_in_zone(text, zone) for text in (outcome.when, outcome.why))
            cells = outcome.lesson, outcome.student, outcome.owner, *times
            table.add_row(what, *map(Text, cells))
        console.print(table)
    counts = Counter(outcome.what for outcome in outcomes)
    lines = [", ".join(f"{counts[what]:,} {what}" for what in ORDER if counts[what]) or "nothing to collect"]
    if counts[ASKED]:
        lines.append(f"Whose? Fill in the column student of {questions}, then collect again.")
    if counts[UNDECIDED]:
        lines.append(WHICH.format(choices=choices, options=options))
    if skipped := sorted({outcome.lesson for outcome in outcomes if outcome.what == SKIPPED and outcome.lesson}):
        lines.append(REMEDY.format(lesson=skipped[0] if len(skipped) == 1 else "LESSON"))
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _in_zone(text: str, zone: ZoneInfo) -> str:
    """The text with all times of nbgrader's form in a time zone."""

    def shown(found: re.Match[str]) -> str:
        time = time_of(found[0])
        return in_zone(time, zone) if time else found[0]

    return TIME.sub(shown, text)
