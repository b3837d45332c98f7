"""Known mistakes in `patches`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import patches

EVERYWHERE = "squares row"  # what an answer loses whose every result is wrong

right = patches.reference_answer("""
def patches(images, size):
    B, C, H, W = images.shape
    if size < 1:
        raise ValueError(f"size is {size}, and must be at least 1")
    if H % size or W % size:
        raise ValueError(f"size is {size}, and does not divide {H} and {W}")
    cut = images.reshape(B, C, H // size, size, W // size, size)  # channel, square, row, square, column
    cut = cut.permute(0, 2, 4, 1, 3, 5)
    return cut.flatten(3).flatten(1, 2)
""")

right.mistake(
    "reshapes_only", {"permute(0, 2, 4, 1, 3, 5)": "reshape(B, H // size, W // size, C, size, size)"}, loses=EVERYWHERE
).feedback(
    "The shape is right, but you reshape alone: each row is a stretch of memory, strips of the picture, and no square. "
    "Cut both sides in two, then exchange dimensions."
)
right.mistake("goes_down_the_columns", {"(0, 2, 4, 1, 3, 5)": "(0, 4, 2, 1, 3, 5)"}, loses=EVERYWHERE).feedback(
    "Each square is right, but they come column after column. The second square lies to the right of the first."
)
right.mistake("puts_the_channels_last", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 3, 5, 1)"}, loses=EVERYWHERE).feedback(
    "Inside a square you go pixel by pixel, with all channels of each. The channel comes first: all of the first "
    "channel, then all of the second."
)
right.mistake("turns_each_square", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 1, 5, 3)"}, loses=EVERYWHERE).feedback(
    "Rows and columns inside each square have changed places."
)
right.mistake("turns_all", {"(0, 2, 4, 1, 3, 5)": "(0, 4, 2, 1, 5, 3)"}, loses=EVERYWHERE).feedback(
    "The whole picture lies on its side: rows and columns have changed places, of squares and in squares."
)
right.mistake("exchanges_square_and_place", {"(0, 2, 4, 1, 3, 5)": "(0, 3, 5, 1, 2, 4)"}, loses=EVERYWHERE).feedback(
    "You have taken the place in a square for the number of the square: each row of yours holds every size-th pixel. "
    "After `reshape(…, H // size, size, …)` the first of the two counts squares."
)
right.mistake(
    "cuts_in_so_many_parts", {"H // size": "size, H // size", "W // size, size": "W // size"}, loses=EVERYWHERE
).feedback("`size` is the side of a square in pixels. You cut each side of the picture into so many parts.")
right.mistake(
    "goes_row_by_row_through_the_channels", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 3, 1, 5)"}, loses=EVERYWHERE
).feedback(
    "Inside a square you take the first row of each channel, then the second row of each. The channel comes first: "
    "all rows of the first channel, then all of the second."
)
right.mistake("exchanges_height_and_width", {"B, C, H, W = images": "B, C, W, H = images"}, loses=EVERYWHERE).feedback(
    "You take the height for the width and the width for the height: images are (B, C, H, W), rows before columns."
)
right.mistake(shapes.squeezed, {".flatten(1, 2)": ".flatten(1, 2).squeeze(-1)"}, loses="one square").feedback(
    "`squeeze(-1)` removes the last dimension where a square has one number. Every square is a row, of any length."
)
right.mistake("keeps_the_grid", {".flatten(1, 2)": ""}, loses=EVERYWHERE).feedback(
    "The squares still stand in a grid, (B, rows, columns, …). A sequence has one dimension for places: flatten them."
)
right.mistake("keeps_the_channels_apart", {"cut.flatten(3).flatten(1, 2)": "cut.FLAT"}, loses=EVERYWHERE).for_each(
    FLAT=("flatten(4).flatten(1, 2)", "flatten(1, 2)")
).feedback("Each square still has a dimension for channels. All its numbers, C * size * size, make one row.")
right.mistake(
    "takes_channels_for_squares",
    {"(0, 2, 4, 1, 3, 5)": "(0, 1, 2, 4, 3, 5)", "flatten(3).flatten(1, 2)": "flatten(4).flatten(1, 3)"},
    loses=EVERYWHERE,
).feedback("Each channel of a square became a row of its own. A square is one row, with all its channels.")
patches.mistake("forgets_to_transpose_unfold", loses=EVERYWHERE).full_code("""
def patches(images, size):
    if size < 1 or images.shape[2] % size or images.shape[3] % size:
        raise ValueError(f"size is {size}, and does not divide {images.shape[2]} and {images.shape[3]}")
    return torch.nn.functional.unfold(images, size, stride=size)AS_IT_LIES
""").for_each(AS_IT_LIES=("", ".reshape(len(images), -1, images.shape[1] * size**2)")).feedback(
    "The numbers of each square stand in columns: `F.unfold` returns (B, C * size * size, squares). Exchange the last "
    "two dimensions."
)
patches.mistake("lets_squares_overlap", loses=EVERYWHERE).full_code("""
def patches(images, size):
    if size < 1 or images.shape[2] % size or images.shape[3] % size:
        raise ValueError(f"size is {size}, and does not divide {images.shape[2]} and {images.shape[3]}")
    return torch.nn.functional.unfold(images, size).transpose(1, 2)
""").feedback("Your squares overlap: the window moves on by one pixel. It moves by `size`; give the stride.")
right.mistake(
    "averages_the_channels", {".reshape": ".mean(1, keepdim=True).expand(-1, C, -1, -1).reshape"}, loses=EVERYWHERE
).feedback("The channels are averaged on the way. Every number of the picture turns up once.")
right.mistake("takes_the_height_for_the_width", {"W // size, size)": "H // size, size)"}, loses=EVERYWHERE).feedback(
    "You cut the width as if it were the height. Pictures need not be square."
)
right.mistake(
    "views_what_was_permuted", {"cut.flatten(3).flatten(1, 2)": "cut.view(B, -1, C * size * size)"}, loses=EVERYWHERE
).feedback(
    "After a permute the numbers lie in memory in another order, of which `.view` cannot make one row. `.reshape` "
    "copies where it has to."
)
right.mistake(arguments.zero_divides, loses="ValueError").patch("""
- if size < 1:
-     raise ValueError(f"size is {size}, and must be at least 1")
""")
right.mistake(
    arguments.unchecked("takes_negative_sizes"), {"if size < 1": "if size == 0"}, loses="ValueError"
).feedback("0 is refused, and numbers below it are not. No square has a side of -2 pixels: `size` is at least 1.")
right.mistake(arguments.unchecked("fills_up_what_is_missing"), loses="ValueError").patch("""
- if H % size or W % size:
-     raise ValueError(f"size is {size}, and does not divide {H} and {W}")
+ images = F.pad(images, (0, -W % size, 0, -H % size))
+ H, W = images.shape[2:]
""").feedback("What is missing at the edges is filled up without a word. Raise a ValueError.")
right.mistake(arguments.unchecked("drops_what_is_left_over"), loses="ValueError").patch("""
- if H % size or W % size:
-     raise ValueError(f"size is {size}, and does not divide {H} and {W}")
+ images = images[:, :, : H // size * size, : W // size * size]
""").feedback("What is left over at the edges is dropped without a word. Raise a ValueError.")
patches.mistake(arguments.unchecked("lets_unfold_drop_the_rest"), loses="ValueError").full_code("""
def patches(images, size):
    return torch.nn.functional.unfold(images, size, stride=size).transpose(1, 2)
""").feedback("`F.unfold` drops what is left over at the edges without a word. Look yourself, and raise a ValueError.")
right.mistake(
    arguments.not_refused(
        "You do not check that size divides both sides, so the error comes from inside PyTorch. Raise a ValueError."
    ),
    loses="ValueError",
)
right.mistake("checks_the_height_alone", {"if H % size or W % size": "if H % size"}, loses="ValueError").feedback(
    "You look at the height alone. The width must be divided, too."
)
right.mistake("checks_the_width_alone", {"if H % size or W % size": "if W % size"}, loses="ValueError").feedback(
    "You look at the width alone. The height must be divided, too."
)
right.mistake(
    arguments.unchecked("refuses_only_if_both_fail"), {"or W % size": "and W % size"}, loses="ValueError"
).feedback("You refuse a size that divides neither side. It has to divide both.")
right.mistake("checks_the_area", {"H % size or W % size": "H * W % size**2"}, loses="ValueError").feedback(
    "You ask whether the area of a square divides that of the picture. It is each side that must come out even."
)
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(gradients.cut(what="the images"), {"images.reshape": "images.detach().reshape"}, loses="gradients")
right.mistake(numbers.always_float32(of="the images"), {"images.reshape": "images.float().reshape"}, loses="float64")
right.mistake(
    numbers.default_device(where="`images`", what="the tensor that you fill", how="`new_zeros`"), loses="float64"
).patch("""
- return cut.flatten(3).flatten(1, 2)
+ cut = cut.flatten(3).flatten(1, 2)
+ made = torch.zeros(cut.shape, dtype=images.dtype)
+ return MADE
""").for_each(MADE=("torch.cat([made[:, :0], cut], dim=1)", "made.copy_(cut)"))
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake("keeps_the_channels_in_front", loses=EVERYWHERE).patch("""
- cut = cut.permute(0, 2, 4, 1, 3, 5)
- return cut.flatten(3).flatten(1, 2)
+ return cut.permute(0, 1, 2, 4, 3, 5).flatten(4).flatten(2, 3)
""").feedback("The channels are still a dimension of their own. A square is one row, with all of its channels in it.")
