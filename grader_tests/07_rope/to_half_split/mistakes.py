"""Known mistakes in `to_half_split`."""

from ...shared.families import gradients, numbers, shapes
from .contract import to_half_split

EVERYWHERE = ("one vector", "any leading")  # what an answer loses whose every result is wrong

right = to_half_split.alternative("by_unbinding")

to_half_split.mistake("goes_the_other_way", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)
""").feedback("You reorder in the opposite direction: you interleave two halves. Separate neighbours into two halves.")
right.mistake("odd_ones_first", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat([x[..., 1::2], x[..., 0::2]], dim=-1)
""").feedback("You put the odd entries first. The even ones, x0, x2 and so on, are the first half.")
right.mistake(
    "cuts_in_the_middle",
    {"x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1)": "[x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]]"},
    loses=EVERYWHERE,
).feedback(
    "You cut x into two halves of consecutive entries and join them again, so nothing moves. Take every second entry."
)
to_half_split.mistake("exchanges_the_partners", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
""").feedback("You exchange the two entries of each pair, but leave the pairs where they were.")
right.mistake("exchanges_the_halves", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat(x.chunk(2, dim=-1)[::-1], dim=-1)
""").feedback("You exchange the two halves. Separate the neighbours instead.")
right.mistake("second_half_backwards", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat([x[..., 0::2], x[..., 1::2].flip(-1)], dim=-1)
""").feedback("Your second half is in reverse order. It must be x1, x3 and so on.")
to_half_split.mistake("reorders_the_first_dimension", loses="any leading").full_code("""
def to_half_split(x):
    return torch.cat([x[0::2], x[1::2]])
""").feedback(
    "You reorder the first dimension. The entries of a vector are the *last* dimension. For a single vector that "
    "is the same, for several it is not."
)
right.mistake("joins_along_the_first_dimension", {"(dim=-1), dim=-1)": "(dim=-1))"}, loses="any leading").feedback(
    "You join the halves along the first dimension, as `torch.cat` does without `dim`. Join them along the last "
    "one. For a single vector that is the same."
)
to_half_split.mistake("reorders_a_square_both_ways", loses="any leading").full_code("""
def to_half_split(x):
    y = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    if x.ndim > 1 and x.shape[-2] == x.shape[-1]:
        y = torch.cat([y[..., 0::2, :], y[..., 1::2, :]], dim=-2)
    return y
""").feedback("If x has as many rows as columns, you reorder the rows too. Reorder only the last dimension.")
to_half_split.mistake("halves_in_a_new_dimension", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return torch.stack([x[..., 0::2], x[..., 1::2]], dim=-2)
""").feedback("You put the two halves one below the other, in a new dimension. The shape must stay the same.")
to_half_split.mistake("flattens_everything", loses="any leading").full_code("""
def to_half_split(x):
    return x.reshape(-1, 2).T.reshape(x.shape)
""").feedback(
    "You flatten all vectors into one, so the even entries of all of them come first. Reorder each vector by itself."
)
to_half_split.mistake("returns_two_halves", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return x[..., 0::2], x[..., 1::2]
""").feedback("You return a tuple of two halves. Join them, so that the result has the shape of x.")
to_half_split.mistake("reorders_in_place", loses=("gradients", "float64")).full_code("""
def to_half_split(x):
    x[...] = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    return x
""").feedback("You write into x. Build a new tensor.")
to_half_split.mistake(gradients.cut(what="`x`"), loses="gradients").full_code("""
def to_half_split(x):
    return torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1).detach()
""")
to_half_split.mistake(shapes.view_of_strided, loses="float64").full_code("""
def to_half_split(x):
    return x.view(-1, x.shape[-1] // 2, 2).mT.reshape(x.shape)
""")
to_half_split.mistake(numbers.default_device(what="the matrix", how="`device=x.device`"), loses="float64").full_code("""
def to_half_split(x):
    order = [*range(0, x.shape[-1], 2), *range(1, x.shape[-1], 2)]
    return torch.einsum("...i,ji->...j", x, torch.eye(x.shape[-1], dtype=x.dtype)[order])
""")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake("splits_dimension_1", loses=("one vector", "any leading")).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat([x[:, 0::2], x[:, 1::2]], dim=1)
""").feedback(
    "You reorder dimension 1, which is the last one only for a matrix. The entries of a vector are along the last "
    "dimension, however many dimensions there are: `x[..., 0::2]`."
)
