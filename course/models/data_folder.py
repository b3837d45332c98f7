"""The folder of a learner's own data: saved progress, and the model that they trained.

The environment variable ATTENTION_MEMORY names the file of saved progress; other files are then beside it. With "off",
which grading sets, nothing is saved.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SETTING, OFF = "ATTENTION_MEMORY", "off"
PROGRESS = "progress.json"


def data_file(name: str) -> Path | None:
    """Return the path of a file in the folder, which may not exist yet; None if saving is off."""
    named = os.environ.get(SETTING, "")
    if named:
        return None if named == OFF else Path(named) if name == PROGRESS else Path(named).with_name(name)
    try:
        return _data_folder() / "attention-course" / name
    except RuntimeError:  # no home folder
        return None


def _data_folder() -> Path:
    """Return the system's usual folder for a user's data. Raises RuntimeError."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
