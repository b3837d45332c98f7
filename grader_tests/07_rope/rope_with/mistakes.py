"""Known mistakes in `rope_with`."""

from .contract import rope_with

right = rope_with.alternative("all_pairs_at_once")

right.mistake("divides_by_the_frequencies", {"[:, None] * frequencies": "[:, None] / (frequencies + 1e-6)"}).feedback(
    "You divide the positions by the frequencies. The angle is their product."
)
right.mistake(
    "ignores_the_frequencies", {"[:, None] * frequencies": "[:, None] * torch.ones_like(frequencies)"}
).feedback("Every pair turns by its position. Multiply the positions by the pair's frequency first.")
right.mistake("keeps_the_frequencies_of_training").patch("""
- angles = positions[:, None] * frequencies
+ angles = positions[:, None] * 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
""").feedback(
    "You rotate with the frequencies of `apply_rope`. Give it one pair at a time, and the angles as positions."
)
right.mistake("multiplies_both").patch("""
- angles = positions[:, None] * frequencies
+ angles = positions[:, None] * frequencies * 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
""").feedback(
    "Your angles contain two frequencies. `apply_rope` multiplies by its own as well, unless it gets one pair, whose "
    "frequency is 1."
)
right.mistake("adds_the_frequencies", {"[:, None] * frequencies": "[:, None] + frequencies"}).feedback(
    "You add the frequencies to the positions. The angle is their product."
)
right.mistake("one_frequency_for_all", {"[:, None] * frequencies": "[:, None] * frequencies[0]"}).feedback(
    "All pairs turn at the pace of pair 0. Pair i has `frequencies[i]`."
)
right.mistake("joins_as_halves", {"torch.stack([": "torch.cat([", ".flatten(-2)": ""}).feedback(
    "You join all first members, then all second ones. Neighbours stay neighbours."
)
right.mistake("turns_clockwise", {"positions[:, None] * frequencies": "-positions[:, None] * frequencies"}).feedback(
    "You turn clockwise. Positive angles turn counter-clockwise, as in `apply_rope`."
)
