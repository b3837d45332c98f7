"""Every test process begins here, before anything is imported that would take what is left out."""

from grading import imports

imports.leave_out()
