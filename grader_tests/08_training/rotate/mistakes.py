"""Known mistakes in `rotate`."""

from .contract import rotate

right = rotate.alternative("by_pairs")

right.mistake("takes_heads_for_positions").patch("""
- turns = torch.arange(T, device=x.device)[:, None] * frequencies  # (T, K / 2)
+ turns = torch.arange(x.shape[-3] if x.ndim > 2 else T, device=x.device)[:, None, None] * frequencies
+ if x.ndim == 2:
+     turns = turns.squeeze(1)
""").feedback("You rotate along the dimension before the positions, as (T, H, K) has it. Here it is (…, T, K).")
right.mistake(
    "begins_at_one", {"torch.arange(T, device=x.device)[": "torch.arange(1, T + 1, device=x.device)["}
).feedback("Your positions begin at 1. They begin at 0: the first row stays as it is.")
right.mistake(
    "turns_all_alike", {"torch.arange(T, device=x.device)[": "torch.full((T,), T, device=x.device)["}
).feedback("You rotate all rows by the same angles. Row t is rotated by its own position, t.")
right.mistake("pairs_the_halves").patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ even, odd = x.chunk(2, dim=-1)
+ return torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
""").feedback("You pair entry i with entry i + K/2. Here a pair is two neighbours: 0 and 1, 2 and 3, and so on.")
right.mistake("turns_clockwise", {"10000.0 **": "-(10000.0 **", "/ K)": "/ K))"}).feedback(
    "You rotate clockwise. The new x0 is x0·cos − x1·sin, with a plus in the new x1."
)
right.mistake("misses_the_minus", {"even * cos - odd": "even * cos + odd"}).feedback(
    "The minus sign is missing: the new x0 is x0·cos − x1·sin."
)
right.mistake("grows_in_speed", {"10000.0 ** (-torch": "10000.0 ** (torch"}).feedback(
    "Your exponent has the wrong sign, so later pairs turn faster. Pair 0 is the fastest, with 1 radian per position."
)
right.mistake(
    "steps_by_one", {"torch.arange(0, K, 2, device=x.device) / K": "torch.arange(K // 2, device=x.device) / K"}
).feedback("Your exponents are half as large as they should be. That of pair i is −2i / K.")
right.mistake("another_base", {"10000.0": "BASE"}).for_each(BASE=(1000.0, 10.0, 500000.0)).feedback(
    "Your base is not 10000."
)
right.mistake("joins_as_halves", {"torch.stack(": "torch.cat(", ".flatten(-2)": ""}).feedback(
    "You join all first members, then all second ones. Neighbours stay neighbours."
)
