"""Known mistakes in `fill_and_softmax`."""

from ...shared.families import masks, scores
from .contract import fill_and_softmax

SEE = "3. From a mask to weights"

right = fill_and_softmax.alternative("by_masked_fill")

right.mistake(masks.blocked_by_small_number(see=SEE), {'float("-inf")': "FILL"}).for_each(FILL=(0.0, -1e-12))
right.mistake(masks.blocked_by_number(see=SEE), {'float("-inf")': "FILL"}).for_each(FILL=(-1e9, -1e4, -1e6)).feedback(
    "You set blocked scores to a number such as −1e9. Among scores of −2e9 it is the highest of all: use −∞."
)
right.mistake("fills_with_plus_infinity", {'float("-inf")': 'float("inf")'}).feedback(
    "You fill with +∞, which the softmax turns into NaN. Check the sign."
)
right.mistake("fills_the_weights", {"filled, dim=-1)": "scores, dim=-1).masked_fill(mask, 0.0)"}).feedback(
    "You mask after the softmax, so the open weights no longer sum to 1. Fill the scores first.", see=SEE
)
right.mistake("does_not_keep_the_result", {"filled = scores": "filled = scores\n    scores"}).feedback(
    "Your mask changes nothing: `masked_fill` returns a new tensor, which you do not use."
)
right.mistake(masks.inverted(see="5. Two opposite conventions"), {"(mask, ": "(~mask, "})
right.mistake(scores.softmax_over_queries, {"dim=-1": "dim=-2"})
right.mistake("returns_the_filled_scores", {"torch.softmax(filled, dim=-1)": "filled"}).feedback(
    "You return the filled scores. Take their softmax along the last dimension."
)
right.mistake("works_on_plain_numbers", {"filled = scores": "filled = scores.detach()"}).feedback(
    "No gradient reaches the scores, because you cut them off from autograd (`detach`, `torch.tensor(...)`)."
)
