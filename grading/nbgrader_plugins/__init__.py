"""The plugins for nbgrader that `nbgrader_config.py` names."""

# With this import, a gradebook created after any plugin is loaded has our tables and the schema's version
from .. import gradebook

__all__ = ["gradebook"]
