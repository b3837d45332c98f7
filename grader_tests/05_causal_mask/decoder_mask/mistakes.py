"""Known mistakes in `decoder_mask`."""

from ...shared.families import masks
from .contract import decoder_mask

right = decoder_mask.alternative("by_comparing_positions")

right.mistake("joins_them_by_and", {"causal | padding": "causal & padding"}).feedback(
    "You block a key only if it is in the future *and* is padding. One reason is enough: combine the masks with `|`."
)
right.mistake("joins_them_by_xor", {"causal | padding": "causal ^ padding"}).feedback(
    "You open a key that is blocked for both reasons. `^` is True if exactly one side is; combine the masks with `|`."
)
right.mistake("adds_the_masks", {"causal | padding": "causal.long() + padding.long()"}).feedback(
    "You add the masks, which gives numbers up to 2. Combine them with `|`, so that the result is boolean."
)
right.mistake("forgets_the_future", {"causal | padding": "padding.expand(-1, 1, T, T)"}).feedback(
    "Your mask blocks only the padding. Also block every key after its query."
)
right.mistake("forgets_the_padding", {"causal | padding": "causal.expand(len(lengths), 1, T, T)"}).feedback(
    "Your mask blocks only the future. Also block the padding of each sentence."
)
right.mistake("without_heads", {"None, None, :": "None, :"}).feedback(
    "Your mask has the shape (B, T, T). It needs a dimension of size 1 for the heads: (B, 1, T, T)."
)
right.mistake(masks.inverted(see="5. Two opposite conventions"), {"causal | padding": "~(causal | padding)"})
right.mistake("blocks_padding_rows", {"None, None, :": "None, :, None"}).feedback(
    "You block the rows of padding, so these queries see nothing. Block keys, the last dimension, instead of queries.",
    see="A row with nothing to see",
)
