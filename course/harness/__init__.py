"""What the learner's notebook, the judge and its kernel share: programs, how they run, and how outcomes compare."""
