"""The example sentence of the lessons: six words, each a vector of three numbers.

The vectors are made up, so that their dot products are easy to state. The scores of "bank" with the six words are 0.5,
2, 1, 0.5, 3 and 3.25.
"""

from __future__ import annotations

import torch

FEATURES = ["water", "motion", "place"]  # what the three numbers stand for
VECTORS = {
    "the": [0.2, 0.1, 0.2],
    "boat": [1.4, 1.0, 0.4],
    "reached": [0.1, 1.6, 0.6],
    "river": [1.5, 0.5, 1.0],
    "bank": [1.0, 0.0, 1.5],
}

words = ["The", "boat", "reached", "the", "river", "bank"]
x = torch.tensor([VECTORS[word.lower()] for word in words])  # (T, D): (6, 3)
