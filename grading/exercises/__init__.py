"""The language in which `grader_tests/` is written: exercises, cases, answers as text, and lessons made of them."""
