"""Lesson 07: order-blindness, frequencies, rotation by position, a module.

Every rotation is judged with room for angles that were computed in float32, whatever the dtype of the input. The
frequency is then wrong by a few units in the last place, and so is the angle: by up to about 4e-7 of itself. For
positions up to p an entry of the result may thus be off by 1e-6 * p times the length of its pair; see `turned`.
"""

EXERCISES = ("is_order_blind", "rope_frequencies", "apply_rope", "RotarySelfAttention")
STEPS = ("turn", "to_half_split")
