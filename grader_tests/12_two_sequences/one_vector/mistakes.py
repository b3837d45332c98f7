"""Known mistakes in `one_vector`."""

from .contract import one_vector

right = one_vector.alternative("by_masked_fill")

right.mistake("counts_the_padding", {"(~padded).sum(1, keepdim=True)": "memory.shape[1]"}).feedback(
    "You divide by the number of all positions. Divide by the number of those that are not padding."
)
right.mistake("averages_the_padding", {"memory.masked_fill(padded, 0.0)": "memory"}).feedback(
    "Your sum includes the padded vectors. Set them to 0 first."
)
one_vector.mistake("ignores_the_mask").full_code("""
def one_vector(memory, source_mask):
    return memory.mean(1, keepdim=True)
""").feedback("You average over all positions, padding included. `source_mask` says which positions to leave out.")
right.mistake("inverts_the_mask", {"= source_mask": "= ~source_mask"}).feedback(
    "You average over the padding. `source_mask` is True where a position is padded."
)
right.mistake("does_not_divide", {"total / (~padded).sum(1, keepdim=True)": "total"}).feedback(
    "You return the sum. The mean is divided by the number of positions that are not padding."
)
right.mistake(
    "drops_the_position",
    {"total / (~padded).sum(1, keepdim=True)": "(total / (~padded).sum(1, keepdim=True)).squeeze(1)"},
).feedback("Your result has the shape (B, D). Keep one position: (B, 1, D), with `keepdim=True`.")
right.mistake("repeats_the_mean", {"sum(1, keepdim=True)\n": "sum(1, keepdim=True).expand_as(memory)\n"}).feedback(
    "You return the mean once per source position. The result has one position: (B, 1, D)."
)
one_vector.mistake("takes_the_last_word").full_code("""
def one_vector(memory, source_mask):
    last = (~source_mask).sum(1) - 1
    return memory[torch.arange(len(memory)), last][:, None]
""").feedback("You return the vector of the last word. This step asks for the mean of all words.")
one_vector.mistake("takes_the_first_word").full_code("""
def one_vector(memory, source_mask):
    return memory[:, :1]
""").feedback("You return the vector of the first word. This step asks for the mean of all words.")
