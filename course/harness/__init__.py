"""Programs, runs and comparisons, shared by notebook, judge and kernel."""
