"""Known mistakes in `sliding_window`."""

from ...shared.families import arguments, masks, shapes
from .contract import sliding_window

right = sliding_window.reference_answer("""
def sliding_window(T, width, device=None):
    if width < 1:
        raise ValueError(f"width is {width}, and must be at least 1")
    places = torch.arange(T, device=device)
    back = places[:, None] - places[None, :]
    return (back < 0) | (back >= width)
""")

right.mistake(masks.one_key_too_many, {"back >= width": "back > width"}, loses="who sees")
right.mistake(masks.one_key_too_few, {"back >= width": "back >= width - 1"}, loses="who sees")
right.mistake("sees_the_future", {"(back < 0) | (back >= width)": "back.abs() >= width"}, loses="who sees").feedback(
    "Your window is open on both sides. A causal mask blocks every later key, however near."
)
right.mistake("forgets_the_window", {"(back < 0) | (back >= width)": "back < 0"}, loses="who sees").feedback(
    "`width` makes no difference: you return the plain causal mask. Also block the keys that are too far back."
)
right.mistake("forgets_to_be_causal", {"(back < 0) | (back >= width)": "back >= width"}, loses="who sees").feedback(
    "You block keys that are too far back, but leave the future open. Block both."
)
right.mistake(masks.inverted, {"(back < 0) | (back >= width)": "(back >= 0) & (back < width)"}, loses="who sees")
right.mistake(
    shapes.rows_and_columns_exchanged, {"places[:, None]": "places[None, :]", "None, :": ":, None"}, loses="who"
)
right.mistake(
    arguments.not_refused(
        "You accept a width below 1, with which a query would see nothing at all. Raise a ValueError."
    ),
    loses="ValueError",
)
right.mistake(masks.of_numbers, {"(back >= width)": "(back >= width).long()"}, loses="boolean")
right.mistake(shapes.result_squeezed, loses="who sees")
