"""The version of a gradebook's tables, which nbgrader writes into each new one.

nbgrader itself runs the command `alembic` for this. The command must be on PATH and spends three seconds on imports.
"""

from __future__ import annotations

from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR


def version() -> str:
    """The id of nbgrader's latest migration."""
    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    assert head is not None  # nbgrader has had migrations since 0.6
    return head
