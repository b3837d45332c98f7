"""Judges: processes that read what students wrote, one for each submission, so that who holds the gradebook does not.

    coordinator ── submission, grader ──▶ judge (one a submission, confined) ── cells, cases ──▶ kernel (confined)
     gradebook, ◀── bounded messages: ───  reads, repairs, compares,         ◀── outputs, tensors ──  student's code
     class list     notebook, verdicts     names, cleans, renders

`client` is the coordinator's side, `server` the warm process that judges are forked from, `confine` what a judge may
not; `submission` and `page` are what judges do, `notebook/` and `kernel/` what they do it with.
"""
