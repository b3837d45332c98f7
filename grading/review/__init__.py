"""`grading review`: a person grades a lesson's answers in a local page, question by question, with a rubric.

Points and comments go to nbgrader's own columns, so that the formgrader and everything else shows the same. Does not
cover: where questions of the course come from (`grading.exercises.question`), how exercises are graded.
"""
