"""Side-by-side measurements: `make bench`. Ratios within one run, never limits in a test."""
