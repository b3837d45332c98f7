"""Known mistakes in `rotate_halves`."""

from .contract import rotate_halves

right = rotate_halves.alternative("by_halves")
partners = rotate_halves.alternative("with_partners")

right.mistake("pairs_neighbours").patch("""
- first, second = x.chunk(2, dim=-1)
- return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
+ first, second = x[..., 0::2], x[..., 1::2]
+ return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
""").feedback("You rotate neighbours. Here entry i is paired with entry i + dim // 2.")
right.mistake("cuts_neighbours_and_joins_halves").patch("""
- first, second = x.chunk(2, dim=-1)
+ first, second = x[..., 0::2], x[..., 1::2]
""").feedback("You take neighbours apart and join halves. The input is in halves already: `chunk(2, dim=-1)`.")
right.mistake("joins_neighbours").patch("""
- return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
+ return torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1).flatten(-2)
""").feedback("You put the results back as neighbours. The result is in halves, like the input: `cat`, not `stack`.")
right.mistake("turns_clockwise", {"positions[:, None]": "-positions[:, None]"}).feedback(
    "You turn clockwise. The minus is in the new first half: first · cos − second · sin. (The first half's partner "
    "is *minus* the second.)"
)
right.mistake("loses_the_minus", {"cos - second": "cos + second"}).feedback(
    "The minus sign is missing: first · cos − second · sin."
)
partners.mistake("interleaves_the_angles", {".repeat(1, 2)": ".repeat_interleave(2, dim=1)"}).feedback(
    "Your angles are in the order for neighbours, each twice in a row. For halves: all angles, then all again."
)
