"""Scoring: what an answer gave, compared with references, becomes a verdict. Nothing here reads files or runs a kernel.

`grade_exercise` scores one exercise, `references` computes what is right and what known mistakes give, `verdict` is the
result as data and `verdict_report` the same as a report. `source_analysis` reads an answer's code, `codec` what a
kernel sends, and `local` grades in this process.
"""
