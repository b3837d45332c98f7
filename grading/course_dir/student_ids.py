"""Which student ids nbgrader can take: those that it finds again as a folder, and can show in its pages."""

from __future__ import annotations

import re

# Its pages do not escape < > " and \, it looks for folders by patterns of [ ] * and ?, and / ends a folder's name
UNFIT = re.compile(r"""[<>"\\\[\]*?/]|^\.{1,2}$""")


def why_unfit(student: str) -> str:
    """Why nbgrader cannot take this id, and what to do; "" if it can."""
    found = UNFIT.search(student)
    if found is None and student.isprintable() and student:
        return ""
    what = found[0] if found else "a character that cannot be printed" if student else "nothing"
    return f"nbgrader does not accept a student id with {what}: rename the folder in submitted/, or change the id"
