"""The classes that `nbgrader_config.py` names: nbgrader's own extension points, filled."""
