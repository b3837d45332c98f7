"""Which student ids nbgrader accepts.

nbgrader must find the id again as a folder and show it in its pages.
"""

from __future__ import annotations

import re

# nbgrader's pages do not escape < > " and \, its folder patterns use [ ] * and ?, and / ends a folder's name
UNFIT = re.compile(r"""[<>"\\\[\]*?/]|^\.{1,2}$""")


def why_unfit(student: str) -> str:
    """Why nbgrader cannot accept this id, with a remedy; "" if it can."""
    found = UNFIT.search(student)
    if found is None and student.isprintable() and student:
        return ""
    what = found[0] if found else "a character that cannot be printed" if student else "nothing"
    return f"nbgrader does not accept a student id with {what}: rename the folder in submitted/, or change the id"
