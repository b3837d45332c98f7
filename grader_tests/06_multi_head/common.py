"""What several exercises of the lesson say."""

SPLITTING = "3. Splitting and merging"
LEVELS = "5. Three levels, one result"
