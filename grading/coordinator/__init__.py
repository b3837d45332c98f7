"""Running nbgrader over a class: release, grade, feedback. nbgrader is imported here and in nbgrader_plugins only."""
