"""What became of a collection, as one table: what needs a person last, where a terminal leaves off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .collection import ASKED, LEFT, REPAIRED, REPLACED, SAME, SKIPPED, TAKEN, Outcome

ORDER = (SAME, TAKEN, REPAIRED, REPLACED, LEFT, SKIPPED, ASKED)
STYLES = {SKIPPED: "red", ASKED: "yellow"}


def show(outcomes: Sequence[Outcome], console: Console, questions: str, remedy: str) -> None:
    """Print the table. What is as before is counted only. questions: where answers go; remedy: for the skipped."""
    shown = sorted((one for one in outcomes if one.what != SAME), key=lambda one: (ORDER.index(one.what), one.student))
    if shown:
        table = Table(box=None, pad_edge=False)
        for head in ("", "student", "from", "handed in", ""):
            table.add_column(head, overflow="fold")
        for one in shown:
            what = Text(one.what, style=STYLES.get(one.what, ""))
            table.add_row(what, *map(Text, (one.student, one.whose, one.when, one.why)))
        console.print(table)
    counts = Counter(one.what for one in outcomes)
    lines = [", ".join(f"{counts[what]:,} {what}" for what in ORDER if counts[what]) or "nothing there"]
    if counts[ASKED]:
        lines.append(f"Whose? Fill in the column student of {questions}, then collect again.")
    if counts[SKIPPED]:
        lines.append(remedy)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
