"""Console table of the points that would go to Canvas."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .canvas_api import PushPlan


def show_push(plan: PushPlan, waiting: Sequence[str], console: Console) -> None:
    """Show which points would go to an LMS, and which students get none."""
    table = Table("student", "there", "has", "gets", box=SIMPLE_HEAD)
    for grade in sorted(plan.to_send, key=lambda grade: grade.student):
        table.add_row(Text(grade.student), Text(f"{grade.name} ({grade.user})"), grade.before or "–", grade.now)
    if plan.to_send:
        console.print(table)
    head = f"{plan.assignment}, by {plan.by}: {len(plan.to_send)} to send, {plan.same} unchanged"
    console.print(Text(head), soft_wrap=True)
    for what, names in (
        (
            "not sent, because a person has not graded everything yet (--provisional sends the points so far)",
            waiting,
        ),
        ("graded, but not in the Canvas course", plan.unmatched),
        ("in the Canvas course, but without points; left unchanged", plan.left),
    ):
        if names:
            console.print(Text(f"{what}: {', '.join(names)}"), soft_wrap=True)
