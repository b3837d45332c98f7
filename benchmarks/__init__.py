"""Side-by-side measurements (`make bench`): ratios in one run, never test limits."""
