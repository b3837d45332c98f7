"""The classes that `nbgrader_config.py` names: nbgrader's own extension points, filled."""

from .. import gradebook as gradebook  # so that nbgrader asks no `alembic` command, which may not be on PATH
