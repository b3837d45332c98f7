"""Known mistakes in `padding_mask`."""

from .contract import padding_mask

right = padding_mask.base("""
def padding_mask(lengths, S):
    return (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :]
""")

right.mistake("misses_the_first_pad", {" >= lengths": " > lengths"}, shows="True at and past").says(
    "The first pad of each sentence is not blocked. A sentence of length n has the places 0 to n - 1, so place n is "
    "padding."
)
right.mistake("blocks_the_last_word", {"[:, None]": "[:, None] - 1"}, shows="True at and past").says(
    "The last word of each sentence is blocked. A sentence of length n has the places 0 to n - 1."
)
right.mistake("blocks_the_words", {" >= lengths": " < lengths"}, shows="True at and past").says(
    "The mask is inverted: the words are blocked and the padding is open. Here True means *blocked*.",
    see="5. Two opposite conventions",
)
padding_mask.mistake("without_heads_and_queries", shows="True at and past").whole("""
def padding_mask(lengths, S):
    return torch.arange(S, device=lengths.device) >= lengths[:, None]
""").says("The shape is (B, S). Scores are (B, H, T, S): two dimensions of size 1 belong in the middle.")
right.mistake("without_heads", {"None, :": ":"}, shows="True at and past").says(
    "The shape is (B, 1, S). There must be a dimension for the heads *and* one for the queries."
)
right.mistake("blocks_queries", {"None, :": ":, None"}, shows="True at and past").says(
    "The places stand in the dimension of the queries. Padding is about *keys*: they are the last dimension."
)
padding_mask.mistake("blocks_queries_and_keys", shows="True at and past").whole("""
def padding_mask(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return (pads[:, :, None] | pads[:, None, :])[:, None]
""").says(
    "The rows of padding are blocked as well, in a (B, 1, S, S) mask. Whole rows are then blocked; block keys only.",
    see="A row with nothing to see",
)
right.mistake(
    "as_wide_as_the_longest", {"torch.arange(S,": "torch.arange(int(lengths.max()),"}, shows="True at and past"
).says("The mask is as wide as the longest sentence. It must have `S` columns.")
right.mistake("padding_on_the_left", {" >= lengths": " < S - lengths"}, shows="True at and past").says(
    "The padding is taken to stand on the left. It fills the *end* of each sentence."
)
right.mistake("never_empty", {">= lengths": ">= lengths.clamp(min=1)"}, shows="from empty").says(
    "A sentence of length 0 keeps one open place. It has no word, so all of its row is blocked."
)
right.mistake("never_full", {">= lengths": ">= lengths.clamp(max=S - 1)"}, shows="from empty").says(
    "A full sentence has its last word blocked."
)
padding_mask.mistake("blocks_a_full_sentence", shows="from empty").whole("""
def padding_mask(lengths, S):
    mask = torch.zeros(len(lengths), 1, 1, S, dtype=torch.bool, device=lengths.device)
    for row, n in zip(mask, lengths):
        row[..., n - S :] = True
    return mask
""").says(
    "A full sentence is blocked throughout. Counted from the end, as in `row[-pads:]`, no pads at all are `row[0:]`, "
    "which is everything."
)
padding_mask.mistake("a_padding_mask_to_add", shows="True at and past").whole("""
def padding_mask(lengths, S):
    pads = torch.arange(S, device=lengths.device) >= lengths[:, None]
    return torch.zeros(len(lengths), 1, 1, S).masked_fill(pads[:, None, None, :], float("-inf"))
""").says("This is a mask to *add* to scores, 0 and -inf. Here a mask is boolean: True where blocked.")
right.mistake("padding_in_zeros_and_ones", {":]": ":].NUMBER()"}, shows="boolean").for_each(
    NUMBER=("long", "float", "int")
).says(
    "The right cells, in the wrong type: zeros and ones. A mask is boolean, so that `~`, `|` and `masked_fill` work."
)
right.mistake("ignores_the_device_of_the_lengths", {"S, device=lengths.device": "S"}, shows="boolean").says(
    "The places are made on PyTorch's default device. Make them where `lengths` is."
)
padding_mask.mistake("changes_the_lengths", shows="the lengths").whole("""
def padding_mask(lengths, S):
    lengths -= 1
    return (torch.arange(S, device=lengths.device) > lengths[:, None])[:, None, None, :]
""").says("`lengths` is not what it was before the call. Work on a new tensor.")
padding_mask.mistake("remembers_a_mask_of_this_shape", shows="True at and past").whole("""
masks = {}


def padding_mask(lengths, S):
    key = len(lengths), S, lengths.device
    if key not in masks:
        masks[key] = (torch.arange(S, device=lengths.device) >= lengths[:, None])[:, None, None, :]
    return masks[key]
""").says(
    "A mask that was made before is returned again, where there are as many sentences and places as then. Their "
    "lengths are others: make each mask from the lengths that you are given."
)
