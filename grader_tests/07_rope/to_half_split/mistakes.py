"""Known mistakes in `to_half_split`."""

from ...shared.families import gradients, numbers, shapes
from .contract import to_half_split

EVERYWHERE = ("one vector", "any leading")  # what an answer loses whose every result is wrong

right = to_half_split.alternative("by_unbinding")

to_half_split.mistake("goes_the_other_way", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)
""").feedback("This is the way back: it takes two halves and puts them between each other. Asked is the way there.")
right.mistake("odd_ones_first", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat([x[..., 1::2], x[..., 0::2]], dim=-1)
""").feedback("The odd ones come first here. The even ones, x0, x2, …, make the first half.")
right.mistake(
    "cuts_in_the_middle",
    {"x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1)": "[x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]]"},
    loses=EVERYWHERE,
).feedback("Two halves of consecutive numbers are what you started with: nothing has moved. Pick every second number.")
to_half_split.mistake("exchanges_the_partners", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
""").feedback("The two numbers of each pair have changed places; the pairs themselves stayed.")
right.mistake("exchanges_the_halves", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat(x.chunk(2, dim=-1)[::-1], dim=-1)
""").feedback("The halves have changed places. It is the neighbours that are to be separated.")
right.mistake("second_half_backwards", loses=EVERYWHERE).patch("""
- return torch.cat(x.reshape(*x.shape[:-1], -1, 2).unbind(dim=-1), dim=-1)
+ return torch.cat([x[..., 0::2], x[..., 1::2].flip(-1)], dim=-1)
""").feedback("The second half runs backwards: x1, x3, … are to stand in this order.")
to_half_split.mistake("reorders_the_first_dimension", loses="any leading").full_code("""
def to_half_split(x):
    return torch.cat([x[0::2], x[1::2]])
""").feedback(
    "You reorder the first dimension. The numbers of a vector are the *last* one; for a single vector that is the "
    "same, for several it is not."
)
right.mistake("joins_along_the_first_dimension", {"(dim=-1), dim=-1)": "(dim=-1))"}, loses="any leading").feedback(
    "Without a `dim`, `torch.cat` joins along the first dimension. The halves are joined along the last; for a single "
    "vector that is the same."
)
to_half_split.mistake("reorders_a_square_both_ways", loses="any leading").full_code("""
def to_half_split(x):
    y = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    if x.ndim > 1 and x.shape[-2] == x.shape[-1]:
        y = torch.cat([y[..., 0::2, :], y[..., 1::2, :]], dim=-2)
    return y
""").feedback(
    "Where there are as many rows as columns, the rows are reordered, too. Only the last dimension is concerned."
)
to_half_split.mistake("halves_in_a_new_dimension", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return torch.stack([x[..., 0::2], x[..., 1::2]], dim=-2)
""").feedback("The halves stand one below the other, in a new dimension: the shape must stay what it was.")
to_half_split.mistake("flattens_everything", loses="any leading").full_code("""
def to_half_split(x):
    return x.reshape(-1, 2).T.reshape(x.shape)
""").feedback(
    "All vectors were flattened into one: the even numbers of all of them come first. Each vector is reordered by "
    "itself."
)
to_half_split.mistake("returns_two_halves", loses=EVERYWHERE).full_code("""
def to_half_split(x):
    return x[..., 0::2], x[..., 1::2]
""").feedback("A tuple of two halves: join them, so that the result has the shape of x.")
to_half_split.mistake("reorders_in_place", loses=("gradients", "float64")).full_code("""
def to_half_split(x):
    x[...] = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    return x
""").feedback("x was written to. Build a new tensor.")
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
    "You sort dimension 1, which is the last one of a matrix only. The numbers of a vector lie along the last "
    "dimension, however many there are: `x[..., 0::2]`."
)
