"""`patches`: images cut into squares, each flattened to a row."""

import torch

from grading.exercises.exercise import Script, call, exercise, helper, non_contiguous, student

patches = exercise(
    "patches",
    see="7. A picture is a sequence, too",
    hints=(
        "Number the pixels of a picture of 4 by 4 from 0 to 15 and cut it into squares of 2 by 2. Which numbers are in "
        "the first square, and which come first in memory?",
        "Cut both sides in two: the height into (which row of squares, which row in the square), the width likewise. "
        "That makes six dimensions. In the result the ones that say *which* square come first, then channel, row and "
        "column in it.",
        "Refuse what does not divide. `images.unflatten(3, (…, size)).unflatten(2, (…, size))`, then a `permute` of "
        "six dimensions, then flatten the last three and the two before them.",
    ),
)


@patches.oracle
def patches_oracle(images, size):
    height, width = images.shape[-2:]
    if size < 1 or height % size or width % size:
        raise ValueError(f"size is {size} and does not divide {height} and {width}")
    squares = [
        images[:, :, r : r + size, c : c + size].flatten(1)
        for r in range(0, height, size)
        for c in range(0, width, size)
    ]
    return torch.stack(squares, dim=1)


patches.example(
    "the numbers 0 to 15 in squares of 2 by 2", call(torch.arange(16.0).view(1, 1, 4, 4), 2), check_types=True
)
patches.example(
    "two pictures of two channels, wider than high", call(torch.arange(96.0).view(2, 2, 4, 6), size=2).with_gradients()
)
patches.example("a height that is left over", call(torch.zeros(1, 3, 5, 4), 2).raises("size", "images"))
patches.example("a width that is left over", call(torch.zeros(1, 3, 4, 5), 2).raises("size", "images"))


@patches.criterion("squares row after row; channel, row, column in each", points=1)
def _(draw):
    yield call(draw.normal(2, 3, 8, 12), 4)
    yield call(draw.normal(3, 2, 9, 6), size=3)
    yield call(draw.normal(1, 1, 6, 10), 2)
    yield call(draw.normal(2, 4, 6, 6), 2)
    yield call(draw.normal(2, 5, 4, 12), 4)


@patches.criterion("one square, and squares of one pixel", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 5, 5), 5)
    yield call(draw.normal(2, 3, 4, 5), 1)
    yield call(draw.normal(4, 1, 3, 6), 3)
    yield call(draw.normal(2, 1, 3, 4), 1).label("one channel, in squares of one pixel")


@patches.criterion("gradients", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 4, 6), 2).with_gradients()


@patches.criterion("float64, any layout and device, images left alone", points=0.5, check_types=True)
def _(draw):
    # Nothing is computed, so results must be exact: float64's usual tolerance would not show a detour by float32
    yield call(draw.normal(2, 3, 4, 6, dtype=torch.float64), 2).tolerance(1e-12)
    yield call(non_contiguous(draw.normal(2, 3, 4, 6)), 2).does_not_mutate()
    yield call(draw.normal(2, 6, 4, 3).movedim(-1, 1), 2).does_not_mutate()  # channels last in memory
    yield call(draw.normal(2, 3, 4, 6), 2).device_only()
    # A device-only case cannot check a copy into a new tensor; here the new tensor is on the other device
    s = Script(images=draw.normal(2, 3, 4, 6))
    s.call(helper("elsewhere"), student("patches"), s.images, 2)
    yield s.case().label("patches((2, 3, 4, 6), 2), while another device is PyTorch's default")


@patches.criterion("ValueError unless size divides height and width, from 1 on", points=0.5)
def _(draw):
    yield call(draw.normal(2, 3, 5, 4), 2).raises("size", "images")
    yield call(draw.normal(2, 3, 4, 6), size=4).raises("size", "images")
    yield call(draw.normal(1, 4, 4, 8), 3).raises("size", "images")
    yield call(draw.normal(4, 2, 6, 10), 8).raises("size", "images")
    yield call(draw.normal(2, 3, 9, 4), size=4).raises("size", "images")  # the width is divisible, the area is not
    yield call(draw.normal(1, 2, 4, 9), 6).raises("size", "images")  # the area is divisible, neither side is
    for size in (0, -2, 1.5):
        yield call(draw.normal(2, 3, 4, 6), size).raises("size", "images")
    yield call(draw.normal(2, 2, 4, 5), 10).raises("size", "images")  # the square has the same area, but other sides
    yield call(draw.normal(2, 3, 4, 6), 2).does_not_raise()
    yield call(draw.normal(3, 3, 8, 4), 4).does_not_raise()
