"""Constants and helpers that several exercises of the lesson share."""

SPLITTING = "3. Splitting and merging"
LEVELS = "5. Three levels, one result"
