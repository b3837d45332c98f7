"""Show the outcomes of a collection, with what needs a person last."""

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
    """Print the outcomes; unchanged ones are only counted. `questions`: the identity table; `remedy`: if skipped."""
    shown = sorted(
        (outcome for outcome in outcomes if outcome.what != SAME),
        key=lambda outcome: (ORDER.index(outcome.what), outcome.student),
    )
    if shown:
        table = Table(box=None, pad_edge=False)
        for head in ("", "student", "from", "handed in", ""):
            table.add_column(head, overflow="fold")
        for outcome in shown:
            what = Text(outcome.what, style=STYLES.get(outcome.what, ""))
            table.add_row(what, *map(Text, (outcome.student, outcome.owner, outcome.when, outcome.why)))
        console.print(table)
    counts = Counter(outcome.what for outcome in outcomes)
    lines = [", ".join(f"{counts[what]:,} {what}" for what in ORDER if counts[what]) or "nothing there"]
    if counts[ASKED]:
        lines.append(f"Whose? Fill in the column student of {questions}, then collect again.")
    if counts[SKIPPED]:
        lines.append(remedy)
    for line in lines:
        console.print(Text(line), soft_wrap=True)
