"""The class report: what was hard, frequent mistakes, and who may need help."""
