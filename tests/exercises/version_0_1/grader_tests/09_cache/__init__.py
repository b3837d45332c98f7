"""Two exercises of lesson 09 as version 0.1 had them."""

EXERCISES = ("cache_bytes", "mean_heads")
