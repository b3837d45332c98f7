"""Headings that several exercises of the lesson name."""

SPLITTING = "3. Splitting and merging"
LEVELS = "5. Three levels, one result"
