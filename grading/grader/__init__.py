"""Scoring: outcomes are compared with references, which gives a verdict.

Nothing here reads files or runs a kernel. `grade_exercise` scores one exercise, `references` computes right outcomes
and those of known mistakes, `verdict` is the result as data, and `verdict_report` is its report. `source_analysis`
reads an answer's code, `codec` a kernel's messages, and `local` grades in this process.
"""
