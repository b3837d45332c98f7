"""The language of `grader_tests/`: lessons, exercises, test cases, answers as text."""
