"""Known mistakes in `padding_mask`."""

from ...shared.families import arguments, masks, numbers
from .contract import padding_mask

right = padding_mask.reference_answer("""
def padding_mask(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :]
""")

right.mistake("misses_the_first_pad", {" >= lengths": " > lengths"}).feedback(
    "You leave the first padding position of each sentence open. A sentence of length n has the positions 0 to n - "
    "1, so position n is padding."
)
right.mistake("blocks_the_last_word", {"[:, None]": "[:, None] - 1"}).feedback(
    "You block the last word of each sentence. A sentence of length n has the positions 0 to n - 1."
)
right.mistake(masks.inverted(see="1. Each word sees only the past"), {">= lengths": "< lengths"})
padding_mask.mistake("without_heads_and_queries").full_code("""
def padding_mask(lengths, S):
    return torch.arange(S, device=lengths.device) >= lengths[:, None]
""").feedback(
    "Your mask has shape (B, S), without dimensions for heads and queries. Scores are (B, H, T, S), so the mask "
    "needs two dimensions of size 1 in the middle."
)
right.mistake("without_heads", {"None, :": ":"}).feedback(
    "Your mask has shape (B, 1, S), with one dimension too few. It needs a dimension for the heads *and* one for "
    "the queries."
)
right.mistake("blocks_queries", {"None, :": ":, None"}).feedback(
    "Your mask blocks queries instead of keys. Padding is about *keys*, which are the last dimension."
)
padding_mask.mistake("blocks_queries_and_keys").full_code("""
def padding_mask(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return (pads[:, :, None] | pads[:, None, :])[:, None]
""").feedback(
    "You also block the rows of padding, in a mask of shape (B, 1, S, S). These rows are then fully blocked. Block "
    "keys only.",
    see="A row with nothing to see",
)
right.mistake("as_wide_as_the_longest", {"torch.arange(S,": "torch.arange(int(lengths.max()),"}).feedback(
    "Your mask has only as many columns as the longest sentence has words. It must have `S` columns."
)
right.mistake("padding_on_the_left", {" >= lengths": " < S - lengths"}).feedback(
    "You block the beginning of each sentence. Padding fills the *end*."
)
right.mistake("never_empty", {">= lengths": ">= lengths.clamp(min=1)"}).feedback(
    "You leave one position open in a sentence of length 0. It has no word, so its whole row is blocked."
)
right.mistake("never_full", {">= lengths": ">= lengths.clamp(max=S - 1)"}).feedback(
    "You block the last word of a full sentence. With the length S, nothing is padding."
)
padding_mask.mistake("blocks_a_full_sentence").full_code("""
def padding_mask(lengths, S):
    mask = torch.zeros(len(lengths), 1, 1, S, dtype=torch.bool, device=lengths.device)
    for row, n in zip(mask, lengths):
        row[..., n - S :] = True
    return mask
""").feedback(
    "You block every position of a full sentence. If you count from the end, as in `row[-pads:]`, no padding gives "
    "`row[0:]`, which is everything."
)
padding_mask.mistake(masks.to_add).full_code("""
def padding_mask(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return torch.zeros(len(lengths), 1, 1, S).masked_fill(pads[:, None, None, :], float("-inf"))
""")
right.mistake(masks.of_numbers, {":]": ":].NUMBER()"}).for_each(NUMBER=("long", "float", "int"))
right.mistake(
    numbers.default_device(where="`lengths`", what="the positions", how="`device=lengths.device`"),
    {"S, device=lengths.device": "S"},
)
padding_mask.mistake(arguments.argument_changed(what="the lengths")).full_code("""
def padding_mask(lengths, S):
    lengths -= 1
    return (torch.arange(S, device=lengths.device) > lengths[:, None])[:, None, None, :]
""")
padding_mask.mistake("remembers_a_mask_of_this_shape").full_code("""
masks = {}


def padding_mask(lengths, S):
    key = len(lengths), S, lengths.device
    if key not in masks:
        masks[key] = (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :]
    return masks[key]
""").feedback(
    "You return an earlier mask if the number of sentences and the number of positions are the same. But the lengths "
    "may differ. Compute each mask from the given lengths."
)
