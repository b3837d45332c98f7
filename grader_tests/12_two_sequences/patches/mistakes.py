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
    "You only reshape, so each row holds strips of the picture instead of a square. The shape is right, but a row "
    "is a stretch of memory: cut both sides in two, then exchange dimensions."
)
right.mistake("goes_down_the_columns", {"(0, 2, 4, 1, 3, 5)": "(0, 4, 2, 1, 3, 5)"}, loses=EVERYWHERE).feedback(
    "You put the squares in order column after column. Each square is right, but the second one should be to the "
    "right of the first."
)
right.mistake("puts_the_channels_last", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 3, 5, 1)"}, loses=EVERYWHERE).feedback(
    "You go through a square pixel by pixel, with all channels of each. The channel comes first: all of the first "
    "channel, then all of the second."
)
right.mistake("turns_each_square", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 1, 5, 3)"}, loses=EVERYWHERE).feedback(
    "You swap rows and columns inside each square."
)
right.mistake("turns_all", {"(0, 2, 4, 1, 3, 5)": "(0, 4, 2, 1, 5, 3)"}, loses=EVERYWHERE).feedback(
    "You swap rows and columns of the whole picture, both of the squares and inside them."
)
right.mistake("exchanges_square_and_place", {"(0, 2, 4, 1, 3, 5)": "(0, 3, 5, 1, 2, 4)"}, loses=EVERYWHERE).feedback(
    "You confuse the position in a square with the number of the square: each row holds every size-th pixel. After "
    "`reshape(…, H // size, size, …)` the first of the two dimensions counts squares."
)
right.mistake(
    "cuts_in_so_many_parts", {"H // size": "size, H // size", "W // size, size": "W // size"}, loses=EVERYWHERE
).feedback("You cut each side of the picture into `size` parts. `size` is the side of a square in pixels.")
right.mistake(
    "goes_row_by_row_through_the_channels", {"(0, 2, 4, 1, 3, 5)": "(0, 2, 4, 3, 1, 5)"}, loses=EVERYWHERE
).feedback(
    "You take the first row of each channel of a square, then the second row of each. The channel comes first: all "
    "rows of the first channel, then all of the second."
)
right.mistake("exchanges_height_and_width", {"B, C, H, W = images": "B, C, W, H = images"}, loses=EVERYWHERE).feedback(
    "You swap height and width. Images are (B, C, H, W), rows before columns."
)
right.mistake(shapes.squeezed, {".flatten(1, 2)": ".flatten(1, 2).squeeze(-1)"}, loses="one square").feedback(
    "`squeeze(-1)` removes the last dimension if a square has only one entry. Every square is a row, of any length."
)
right.mistake("keeps_the_grid", {".flatten(1, 2)": ""}, loses=EVERYWHERE).feedback(
    "Your squares are still in a grid, (B, rows, columns, …). A sequence has one dimension for positions: flatten them."
)
right.mistake("keeps_the_channels_apart", {"cut.flatten(3).flatten(1, 2)": "cut.FLAT"}, loses=EVERYWHERE).for_each(
    FLAT=("flatten(4).flatten(1, 2)", "flatten(1, 2)")
).feedback(
    "Your squares still have a separate dimension for channels. All `C * size * size` entries of a square form one row."
)
right.mistake(
    "takes_channels_for_squares",
    {"(0, 2, 4, 1, 3, 5)": "(0, 1, 2, 4, 3, 5)", "flatten(3).flatten(1, 2)": "flatten(4).flatten(1, 3)"},
    loses=EVERYWHERE,
).feedback("You make a separate row of each channel of a square. A square is one row, with all its channels.")
patches.mistake("forgets_to_transpose_unfold", loses=EVERYWHERE).full_code("""
def patches(images, size):
    if size < 1 or images.shape[2] % size or images.shape[3] % size:
        raise ValueError(f"size is {size}, and does not divide {images.shape[2]} and {images.shape[3]}")
    return torch.nn.functional.unfold(images, size, stride=size)AS_IT_LIES
""").for_each(AS_IT_LIES=("", ".reshape(len(images), -1, images.shape[1] * size**2)")).feedback(
    "You return the entries of each square in a column. `F.unfold` returns `(B, C * size * size, squares)`: "
    "exchange the last two dimensions."
)
patches.mistake("lets_squares_overlap", loses=EVERYWHERE).full_code("""
def patches(images, size):
    if size < 1 or images.shape[2] % size or images.shape[3] % size:
        raise ValueError(f"size is {size}, and does not divide {images.shape[2]} and {images.shape[3]}")
    return torch.nn.functional.unfold(images, size).transpose(1, 2)
""").feedback("Your squares overlap: the window moves by one pixel. It should move by `size`: give the stride.")
right.mistake(
    "averages_the_channels", {".reshape": ".mean(1, keepdim=True).expand(-1, C, -1, -1).reshape"}, loses=EVERYWHERE
).feedback("You average the channels. Every number of the picture should appear once.")
right.mistake("takes_the_height_for_the_width", {"W // size, size)": "H // size, size)"}, loses=EVERYWHERE).feedback(
    "You cut the width as if it were the height. Pictures need not be square."
)
right.mistake(
    "views_what_was_permuted", {"cut.flatten(3).flatten(1, 2)": "cut.view(B, -1, C * size * size)"}, loses=EVERYWHERE
).feedback(
    "`.view` fails after `permute`, because it cannot merge dimensions that are no longer contiguous in memory. "
    "`.reshape` copies if it has to."
)
right.mistake(arguments.zero_divides, loses="ValueError").patch("""
- if size < 1:
-     raise ValueError(f"size is {size}, and must be at least 1")
""")
right.mistake(
    arguments.unchecked("takes_negative_sizes"), {"if size < 1": "if size == 0"}, loses="ValueError"
).feedback("You refuse 0 but accept negative sizes. No square has a side of −2 pixels: `size` is at least 1.")
right.mistake(arguments.unchecked("fills_up_what_is_missing"), loses="ValueError").patch("""
- if H % size or W % size:
-     raise ValueError(f"size is {size}, and does not divide {H} and {W}")
+ images = F.pad(images, (0, -W % size, 0, -H % size))
+ H, W = images.shape[2:]
""").feedback("You silently pad the picture at the edges. Raise a ValueError.")
right.mistake(arguments.unchecked("drops_what_is_left_over"), loses="ValueError").patch("""
- if H % size or W % size:
-     raise ValueError(f"size is {size}, and does not divide {H} and {W}")
+ images = images[:, :, : H // size * size, : W // size * size]
""").feedback("You silently drop the rest of the picture at the edges. Raise a ValueError.")
patches.mistake(arguments.unchecked("lets_unfold_drop_the_rest"), loses="ValueError").full_code("""
def patches(images, size):
    return torch.nn.functional.unfold(images, size, stride=size).transpose(1, 2)
""").feedback(
    "`F.unfold` silently drops the rest of the picture at the edges. Check the sides yourself, and raise a ValueError."
)
right.mistake(
    arguments.not_refused(
        "You leave it to PyTorch to fail when `size` does not divide a side. Check it yourself, and raise a ValueError."
    ),
    loses="ValueError",
)
right.mistake("checks_the_height_alone", {"if H % size or W % size": "if H % size"}, loses="ValueError").feedback(
    "You check only the height. `size` must divide the width, too."
)
right.mistake("checks_the_width_alone", {"if H % size or W % size": "if W % size"}, loses="ValueError").feedback(
    "You check only the width. `size` must divide the height, too."
)
right.mistake(
    arguments.unchecked("refuses_only_if_both_fail"), {"or W % size": "and W % size"}, loses="ValueError"
).feedback("You refuse a size only if it divides neither side. It has to divide both.")
right.mistake("checks_the_area", {"H % size or W % size": "H * W % size**2"}, loses="ValueError").feedback(
    "You check only whether the area of a square divides the area of the picture. `size` must divide each side."
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
""").feedback("Your channels are still a separate dimension. A square is one row, with all its channels in it.")
