"""nbgrader's extension points, filled: what happens to a submission before it runs and after it is graded."""
