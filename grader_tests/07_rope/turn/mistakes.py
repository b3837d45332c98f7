"""Known mistakes in `turn`."""

from .contract import turn

right = turn.alternative("number_by_number")

right.mistake("turns_clockwise", {"* cos - x": "* cos + x", "x[..., 0] * sin +": "-x[..., 0] * sin +"}).feedback(
    "You turn clockwise. The minus is in the new *first* number."
)
right.mistake("loses_the_minus", {"* cos - x": "* cos + x"}).feedback(
    "The minus sign is missing. The new first number is x₀ cos α − x₁ sin α, and the length of a vector stays the same."
)
right.mistake("two_minuses", {"* sin + x": "* sin - x"}).feedback(
    "There is one minus too many. The new second number is a sum: x₀ sin α + x₁ cos α."
)
right.mistake(
    "exchanges_sine_and_cosine", {"math.cos(angle), math.sin(angle)": "math.sin(angle), math.cos(angle)"}
).feedback("You exchanged sine and cosine. An angle of 0 should change nothing, and cos 0 = 1.")
right.mistake(
    "in_degrees", {"math.cos(angle), math.sin(angle)": "math.cos(math.radians(angle)), math.sin(math.radians(angle))"}
).feedback("You treat the angle as degrees. It is in radians: a full turn is 2π.")
right.mistake("turns_the_first_number_only", {"x[..., 0] * sin + x[..., 1] * cos": "x[..., 1]"}).feedback(
    "You compute only the first number. The second one becomes x₀ sin α + x₁ cos α."
)
right.mistake("stacks_in_front", {"dim=-1)": "dim=0)"}).feedback(
    "You stack the two results in a new first dimension. They belong in the last one: `dim=-1`."
)
right.mistake("uses_the_new_number").patch("""
- return torch.stack([x[..., 0] * cos - x[..., 1] * sin, x[..., 0] * sin + x[..., 1] * cos], dim=-1)
+ first = x[..., 0] * cos - x[..., 1] * sin
+ return torch.stack([first, first * sin + x[..., 1] * cos], dim=-1)
""").feedback("Your second number is made of the *new* first one. Both are made of the old numbers.")
