"""Known mistakes in `addresses`."""

from .contract import addresses

right = addresses.alternative("by_broadcasting")

right.mistake(
    "counts_the_entries",
    {"return a[:, None, None] + b[:, None] + c": "return torch.arange(len(a) * len(b) * len(c)).view(*shape)"},
).feedback(
    "You count the entries in the order of the shape and do not use the strides. A transposed tensor has other strides."
)
right.mistake("takes_the_sizes", {"torch.arange(size) * stride": "torch.arange(size) * size"}).feedback(
    "You multiply each index by the size of its dimension. Multiply it by the *stride*."
)
right.mistake("leaves_out_the_strides", {"torch.arange(size) * stride": "torch.arange(size)"}).feedback(
    "You add the indices as they are. Multiply each by the stride of its dimension first."
)
right.mistake("multiplies_the_three", {"None] + b[:, None] + c": "None] * b[:, None] * c"}).feedback(
    "You multiply the three products. Add them: address = i · stride₀ + j · stride₁ + k · stride₂."
)
right.mistake("takes_the_strides_backwards", {"zip(shape, strides)": "zip(shape, strides[::-1])"}).feedback(
    "You take the strides in reverse order. The first stride belongs to the first dimension."
)
right.mistake("begins_with_1", {"+ c": "+ c + 1"}).feedback(
    "Your addresses begin with 1. The first entry has the address 0."
)
right.mistake(
    "returns_the_highest_address", {"return a[:, None, None] + b[:, None] + c": "return a.max() + b.max() + c.max()"}
).feedback("You return one address. Return a tensor of the given shape, with one address for each entry.")
