"""The `grading` command: one file per group of verbs."""
