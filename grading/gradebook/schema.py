"""The version of a gradebook's tables, which nbgrader writes into each that it makes.

nbgrader asks a command for it, `alembic`, which must be on PATH and takes three seconds to load what is loaded here.
"""

from __future__ import annotations

from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR


def version() -> str:
    """The last of nbgrader's migrations."""
    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    assert head is not None  # nbgrader has had migrations since 0.6
    return head
