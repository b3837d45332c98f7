"""The judge's side of a student's kernel: messages, outputs, time and runs."""
