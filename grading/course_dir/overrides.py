"""Settings from the command line; they override `nbgrader_config.py`."""

from __future__ import annotations

from traitlets.config import Config

given = Config()  # `--Class.trait=value`, parsed and stored here by `grading.cli.main`
