"""Run nbgrader over a class: release, grade, feedback."""
