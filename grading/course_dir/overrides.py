"""Settings that the command line gave, which win over `nbgrader_config.py` in this process."""

from __future__ import annotations

from traitlets.config import Config

given = Config()  # `--Class.trait=value`, parsed; `grading.cli.main` fills it
