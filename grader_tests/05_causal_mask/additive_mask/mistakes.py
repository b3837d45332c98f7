"""Known mistakes in `additive_mask`."""

from ...shared.families import masks
from .contract import additive_mask

right = additive_mask.alternative("by_filling")

right.mistake("multiplies_infinity", {'zeros.masked_fill(mask, float("-inf"))': 'mask * float("-inf")'}).feedback(
    "You multiply by −∞, which gives NaN wherever the mask is False: 0 · ∞ is not a number. Fill instead."
)
right.mistake("gives_ones", {'zeros.masked_fill(mask, float("-inf"))': "mask.float()"}).feedback(
    "You return 0 and 1. Added to a score, 1 makes the weight of a blocked key *larger*: put −∞ there."
)
right.mistake(masks.inverted(see="5. Two opposite conventions"), {"(mask, ": "(~mask, "})
right.mistake("fills_with_a_number", {'float("-inf")': "FILL"}).for_each(FILL=(-1e9, -1e4)).feedback(
    "You fill with a finite number such as −1e9. Only −∞ works for all scores.", see="3. From a mask to weights"
)
right.mistake("fills_with_plus_infinity", {'"-inf"': '"inf"'}).feedback("You fill with +∞. Check the sign.")
right.mistake("stays_boolean", {'zeros.masked_fill(mask, float("-inf"))': "mask"}).feedback(
    "You return the boolean mask. Turn it into a floating-point tensor of 0 and −∞."
)
