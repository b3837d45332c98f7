"""What a class did, for its teacher: one page of what was hard, what was mistaken, and who may need help."""
