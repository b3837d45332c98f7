"""A student's kernel from the judge's side: its messages, its outputs, the time that it gets, and what is run in it."""
