"""Known mistakes in `apply_rope`."""

from ...shared.families import gradients, numbers, shapes
from ..common import CLOCKS, LAYOUTS, TURNING
from .contract import apply_rope

EVERYWHERE = ("every", "any positions", "any leading")  # what an answer loses whose every result is wrong

right = apply_rope.reference_answer("""
def apply_rope(x, positions, frequencies=None):
    if frequencies is None:
        i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
        frequencies = 10000.0 ** (-i / x.shape[-1])
    angles = positions.double()[:, None] * frequencies
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
""")

# With the angles in float32, as most answers have them: far away, in float64 and for gradients it shows which
plain = apply_rope.reference_answer("""
def apply_rope(x, positions, frequencies=None):
    if frequencies is None:
        i = torch.arange(0, x.shape[-1], 2, dtype=torch.float32, device=x.device)
        frequencies = 10000.0 ** (-i / x.shape[-1])
    angles = positions.float()[:, None] * frequencies.float()
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
""")

right.mistake("halves_for_neighbours", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ first, second = x.chunk(2, dim=-1)
+ return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
""").feedback(
    "You pair entry i with entry i + dim/2, which is the other layout. It is right for weights that were made for "
    "it, but here the pairs are neighbours: 0 and 1, 2 and 3, and so on.",
    see=LAYOUTS,
)
right.mistake("partners_from_the_other_half", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ cos, sin = cos.repeat_interleave(2, dim=-1), sin.repeat_interleave(2, dim=-1)
+ first, second = x.chunk(2, dim=-1)
+ return x * cos + torch.cat([-second, first], dim=-1) * sin
""").feedback(
    "You mix two layouts: the angles are those of neighbours, but the partners come from the other half of the vector.",
    see=LAYOUTS,
)
right.mistake("angles_of_the_other_layout", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ cos, sin = torch.cat([cos, cos], dim=-1), torch.cat([sin, sin], dim=-1)
+ even, odd = x[..., 0::2], x[..., 1::2]
+ return x * cos + torch.stack([-odd, even], dim=-1).flatten(-2) * sin
""").feedback(
    "You mix two layouts: each entry's partner is its neighbour, but the angles are repeated once per half. `cat` "
    "and `repeat` do that. Neighbours need the same angle: each angle twice in a row.",
    see=LAYOUTS,
)
right.mistake("interleaves_the_halves", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
+ even, odd = x.chunk(2, dim=-1)
""").feedback(
    "You cut x into two halves, but interleave the results. Pairs are neighbours when you take them apart, too: the "
    "even entries and the odd ones.",
    see=LAYOUTS,
)
right.mistake("leaves_the_halves_apart", {"stack": "cat", ".flatten(-2)": ""}, loses=EVERYWHERE).feedback(
    "You rotate each pair correctly but store it in the wrong places: all first entries, then all second ones. "
    "Interleave them again, as they were in x.",
    see=LAYOUTS,
)
right.mistake("clockwise", {"positions.double()": "-positions.double()"}, loses=EVERYWHERE).feedback(
    "You rotate clockwise instead of counter-clockwise. Counter-clockwise, the sine is subtracted in the first "
    "entry of a pair and added in the second: (1, 0), rotated a little, has a positive second entry.",
    see=TURNING,
)
right.mistake("misses_the_minus_sign", {"cos - odd": "cos + odd"}, loses=EVERYWHERE).feedback(
    "A minus sign is missing: you *add* the partner's part to both entries of a pair. That is not a rotation, "
    "because vectors grow and shrink.",
    see=TURNING,
)
right.mistake("exchanges_cosine_and_sine", {"cos, sin =": "sin, cos ="}, loses=EVERYWHERE).feedback(
    "You exchange cosine and sine. At position 0 nothing may happen: cos 0 is 1, and sin 0 is 0.", see=TURNING
)
right.mistake("forgets_the_partner", {"angles.sin()": "0 * angles.sin()"}, loses=EVERYWHERE).feedback(
    "You multiply each entry by a cosine, but add nothing of its partner.", see=TURNING
)
right.mistake("adds_an_encoding", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ return x + torch.stack([sin, cos], dim=-1).flatten(-2)
""").feedback(
    "You *add* sines and cosines to x, as in a model with positional encodings. RoPE rotates; it adds nothing.",
    see=TURNING,
)
right.mistake("positions_are_ignored", loses=("any positions", "any leading", "positions")).patch("""
- angles = positions.double()[:, None] * frequencies
+ angles = torch.arange(x.shape[-2]).double()[:, None] * frequencies
""").feedback("You count the rows, 0, 1, 2 and so on, and ignore `positions`.")
right.mistake("starts_at_one", {"positions.double()": "(positions + 1).double()"}, loses=EVERYWHERE).feedback(
    "You rotate every vector one position too far: you add 1 to the given positions."
)
right.mistake("counts_from_the_first_position", loses=("any positions", "any leading")).patch("""
- angles = positions.double()[:, None] * frequencies
+ angles = (positions - positions[0]).double()[:, None] * frequencies
""").feedback(
    "You subtract the first position from all positions. The scores of queries and keys would not change, but the "
    "vectors that this exercise asks for do."
)
right.mistake("frequencies_are_ignored", loses="the frequencies", clause="given").patch("""
- if frequencies is None:
-     i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
-     frequencies = 10000.0 ** (-i / x.shape[-1])
+ i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
+ frequencies = 10000.0 ** (-i / x.shape[-1])
""").feedback("You rotate by the usual frequencies even where others are given. They are only the default.")
right.mistake("multiplies_both_frequencies", loses="the frequencies").patch("""
- if frequencies is None:
-     i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
-     frequencies = 10000.0 ** (-i / x.shape[-1])
+ i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
+ usual = 10000.0 ** (-i / x.shape[-1])
+ frequencies = usual if frequencies is None else frequencies * usual
""").feedback("You multiply the given frequencies by the usual ones. They replace them.")
right.mistake(
    "divides_by_the_frequencies", {"[:, None] * frequencies": "[:, None] / (frequencies + 1e-6)"}, loses=EVERYWHERE
).feedback("You divide the positions by the frequencies. An angle is their product.", see=CLOCKS)
right.mistake(
    "one_frequency_for_all",
    {"[:, None] * frequencies": "[:, None] * frequencies[0].expand_as(frequencies)"},
    loses=EVERYWHERE,
).feedback("All your pairs turn at the pace of pair 0. Pair i has `frequencies[i]`.", see=CLOCKS)
plain.mistake(
    "whole_positions_only", {"positions.float": "positions.WHOLE().float"}, loses="any positions", clause="order"
).for_each(WHOLE=("long", "round")).feedback(
    "You convert the positions to whole numbers. Fractions count: 2.5 is half-way between 2 and 3."
)
right.mistake(
    "sorts_the_positions", {".double": ".sort().values.double"}, loses=("any positions", "any leading")
).feedback("You sort the positions before you use them. Row t of x is at positions[t].")
right.mistake("keeps_the_first_angles", loses=("any positions", "the frequencies")).patch("""
+ kept = apply_rope.__dict__
  if frequencies is None:
@@
+ angles = kept.setdefault(str(x.shape[-2:]), angles)
  cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
""").feedback(
    "You keep the angles of one call for later calls with the same number of vectors. Other positions, or other "
    "frequencies, have other angles."
)
right.mistake("looks_up_in_a_short_table", loses=("any positions", "positions")).patch("""
- angles = positions.double()[:, None] * frequencies
+ angles = (torch.arange(512).double()[:, None] * frequencies)[positions]
""").feedback(
    "You look up cosines and sines in a table, which holds only some whole positions. Positions go up to 10,000, "
    "and may be negative or fractional."
)
right.mistake(
    "clamps_far_positions",
    {"positions.double()": "positions.double().clamp(max=LAST)"},
    loses="positions",
    clause="far",
).for_each(LAST=(512, 1024, 2048)).feedback(
    "You cut far positions off at a largest one, so that all vectors beyond it are turned alike. Positions go up to "
    "10,000."
)
right.mistake("along_the_first_dimension", loses="any leading").patch("""
- angles = positions.double()[:, None] * frequencies
+ positions = positions[torch.arange(x.shape[0]) % len(positions)]
+ angles = positions.double().view(-1, *[1] * (x.ndim - 1)) * frequencies
""").feedback(
    "You rotate by the index along the *first* dimension of x. The positions belong to dimension -2, however many "
    "dimensions come before it."
)
right.mistake("finds_the_dimension_by_its_size", loses="any leading", clause="leading").patch("""
  cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
+ if x.ndim > 2 and x.shape[-3] == len(positions):
+     cos, sin = cos[:, None], sin[:, None]
""").feedback("You look for a dimension with as many entries as `positions`. T is always dimension -2.")
right.mistake("takes_so_many_dimensions_only", loses=("every", "any leading")).patch("""
  def apply_rope(x, positions, frequencies=None):
+     NAMES = x.shape
""").for_each(NAMES=("batch, heads, tokens, dim", "batch, tokens, dim")).feedback(
    "Your function accepts only a fixed number of dimensions of x. `...` stands for any number of them, or none."
)
right.mistake(shapes.view_of_strided, loses="float64").patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ even, odd = x.view(-1, x.shape[-2], x.shape[-1] // 2, 2).unbind(-1)
+ return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).view(x.shape)
""")
right.mistake("in_degrees", {"positions.double()": "torch.deg2rad(positions.double())"}, loses=EVERYWHERE).feedback(
    "You treat the positions as degrees. A frequency of 1 is one radian per position.", see=TURNING
)
plain.mistake("angles_in_half_precision", loses=("any positions", "positions")).patch("""
- angles = positions.float()[:, None] * frequencies.float()
+ angles = ANGLES
""").for_each(
    ANGLES=(
        "(positions.float()[:, None] * frequencies.float()).bfloat16().float()",
        "positions.bfloat16().float()[:, None] * frequencies.float()",
        "positions.half().float()[:, None] * frequencies.float()",
    )
).feedback(
    "You round angles or positions to half precision, which cannot tell position 9,000 from 9,001. Use float32 for "
    "them, whatever dtype x has."
)
right.mistake(numbers.result_float64(of="`x`"), loses="float64", clause="dtype")
plain.mistake(
    "result_as_wide_as_the_positions",
    {
        "positions.float()": "positions",
        "frequencies.float()": "frequencies",
        "cos().to(x.dtype)": "cos()",
        "sin().to(x.dtype)": "sin()",
    },
    loses="float64",
).feedback("Your result takes the dtype of the positions if that is the wider one. It must have the dtype of x.")
right.mistake(numbers.result_float32(of="`x`"), loses="float64")
plain.mistake(gradients.cut(what="`x`"), loses="gradients", clause="gradients").patch("""
  def apply_rope(x, positions, frequencies=None):
+     x = x.detach()
""")
right.mistake("in_polar_coordinates", loses="gradients").patch("""
- cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
@@
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ radius, angles = torch.hypot(even, odd), torch.atan2(odd, even) + angles.to(x.dtype)
+ return torch.stack([radius * angles.cos(), radius * angles.sin()], dim=-1).flatten(-2)
""").feedback(
    "The gradient is NaN for a vector of zeros, because you use the length and angle of each pair. For a pair of "
    "zeros these have no gradient. The rotation itself has one everywhere.",
    see=TURNING,
)
plain.mistake("turns_x_in_place", loses=("gradients", "float64")).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
+ PLACE[..., 0::2] = even * cos - odd * sin
+ PLACE[..., 1::2] = even * sin + odd * cos
+ return x
""").for_each(PLACE=("x", "x.data")).feedback(
    "You rotate x itself, so the caller's tensor changes. Build a new tensor."
)
right.mistake("uses_what_it_has_overwritten", loses=EVERYWHERE).patch("""
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ first = even * cos - odd * sin
+ return torch.stack([first, first * sin + odd * cos], dim=-1).flatten(-2)
""").feedback(
    "You compute the second entry of each pair from the first one *after* its rotation. Both need the old values."
)
right.mistake("as_complex_without_contiguous", loses="float64").patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
+ return torch.view_as_real(pairs * torch.complex(cos, sin)).flatten(-2)
""").feedback(
    "`torch.view_as_complex` fails unless the two entries of a pair are side by side in memory. Complex numbers "
    "are a good way, but after a transpose the entries may be apart. Call `.contiguous()` first."
)
right.mistake(
    numbers.default_device(what="the frequencies", how="`device=x.device`"),
    {", device=x.device": ""},
    loses="float64",
    clause="device",
)
right.mistake("turns_the_halves_clockwise", loses=("every pair", "any positions")).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ first, second = x.chunk(2, dim=-1)
+ return torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)
""").feedback(
    "You pair each entry with one from the other half, and you rotate clockwise. Here a pair is two neighbours, "
    "and a positive angle rotates counter-clockwise."
)
