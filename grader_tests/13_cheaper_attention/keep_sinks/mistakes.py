"""Known mistakes in `keep_sinks`."""

from .contract import keep_sinks

right = keep_sinks.alternative("two_slices")
by_mask = keep_sinks.alternative("by_a_mask")

right.mistake("rows_twice", {"max(sinks, kept.shape[-2] - window)": "max(0, kept.shape[-2] - window)"}).feedback(
    "You keep some rows twice if the text is short. The second part begins at `sinks` at the earliest."
)
right.mistake("window_counts_the_sinks", {"kept.shape[-2] - window": "kept.shape[-2] - window + sinks"}).feedback(
    "You keep `window` rows in all. The sinks come in addition to the last `window` rows."
)
right.mistake(
    "window_only", {"torch.cat([kept[..., :sinks, :], kept[..., start:, :]], dim=-2)": "kept[..., -window:, :]"}
).feedback("You keep the window alone. The first `sinks` rows stay, too.")
right.mistake(
    "window_first", {"[kept[..., :sinks, :], kept[..., start:, :]]": "[kept[..., start:, :], kept[..., :sinks, :]]"}
).feedback("You put the sinks last. The rows stay in the order of their positions.")
right.mistake("one_row_too_few", {"kept.shape[-2] - window": "kept.shape[-2] - window + 1"}).feedback(
    "You keep one row too few. The last `window` rows begin at row S - window."
)
by_mask.mistake(
    "what_falls_out", {"stays = ": "stays = ~(", "kept.shape[-2] - window)": "kept.shape[-2] - window))"}
).feedback("You return the rows that should be dropped. Keep the first `sinks` and the last `window`.")
right.mistake(
    "along_the_width",
    {"kept[..., :sinks, :]": "kept[..., :sinks]", "kept[..., start:, :]": "kept[..., start:]", "dim=-2": "dim=-1"},
).feedback("You cut the last dimension, which is the width. Positions are dimension -2.")
right.mistake("one_sink_fewer", {"kept[..., :sinks, :]": "kept[..., : max(sinks - 1, 0), :]"}).feedback(
    "You keep one sink too few. `sinks` is a number of positions, 0 to sinks - 1."
)
