"""Constants and helpers that several exercises of the lesson share."""

SPLITTING = "3. Splitting and merging"
LEVELS = "5. Three levels, one result"


def four_matrices(draw, width):
    """W_q, W_k, W_v and W_o, (D, D)."""
    return [draw.normal(width, width, scale=width**-0.5) for _ in range(4)]
