"""Known mistakes in `RotarySelfAttention`."""

from ...shared.families import gradients, masks, modules, numbers
from ...shared.heads import STEPS, add_mistakes
from ..common import CLOCKS, GAP, LAYOUTS, TURNING
from .contract import rotary

EVERYWHERE = ("self-attention", "the positions")  # what an answer loses whose every result is wrong

right = rotary.reference_answer(
    """
def cos_and_sin(x, positions):
    i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
    angles = positions.double()[:, None] * 10000.0 ** (-i / x.shape[-1])
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def turn_pairs(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def project(self, x):
        return self.W_q(x), self.W_k(x), self.W_v(x)

    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, positions))

    def rotate(self, query, key, value, positions):
        return self.turn(query, positions), self.turn(key, positions), value

    def forward(self, x, positions=None, mask=None):
        positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
        query, key, value = map(self.split, self.project(x))
        query, key, value = self.rotate(query, key, value, positions)
        weights = self.weigh(self.score(query, key), mask)
        output = self.merge(weights @ value)
        return self.W_o(output), weights
"""
    + STEPS
)

right.mistake(
    "RotatesNothing", {"self.turn(query, positions), self.turn(key, positions)": "query, key"}, loses=EVERYWHERE
).feedback(
    "You rotate nothing, or all words of a head by the same angle, so your module ignores positions. Words are "
    "dimension -2 only after you have exchanged heads and words. Rotate then."
)
right.mistake("RotatesBeforeTheSwap", loses=EVERYWHERE).patch("""
- query, key, value = map(self.split, self.project(x))
- query, key, value = self.rotate(query, key, value, positions)
+ parts = [part.unflatten(-1, (self.n_heads, -1)) for part in self.project(x)]
+ query, key, value = (part.transpose(1, 2) for part in self.rotate(*parts, positions))
""").feedback(
    "You rotate (B, T, H, Dk), before heads and tokens are swapped, so the heads are taken for positions. The tokens "
    "must be dimension -2: swap first, then rotate."
)
right.mistake("RotatesOnlyTheQueries", {"self.turn(key, positions)": "key"}, loses=EVERYWHERE).feedback(
    "You rotate only the queries. A score depends on the gap between two positions only if you rotate both "
    "vectors, each by its own position."
)
right.mistake("RotatesOnlyTheKeys", {"self.turn(query, positions)": "query"}, loses=EVERYWHERE).feedback(
    "You rotate only the keys. A score depends on the gap between two positions only if you rotate both vectors, "
    "each by its own position."
)
right.mistake(
    "RotatesTheValuesToo", {"positions), value": "positions), self.turn(value, positions)"}, loses=EVERYWHERE
).feedback(
    "You rotate the values too. The weights are right, but each value is turned by its position. Values stay as "
    "they are."
)
right.mistake("RotatesBeforeTheSplit", loses=EVERYWHERE).patch("""
- query, key, value = map(self.split, self.project(x))
- query, key, value = self.rotate(query, key, value, positions)
+ query, key, value = map(self.split, self.rotate(*self.project(x), positions))
""").feedback(
    "You rotate before you split the heads, so the frequencies are those of the whole width D. The first head "
    "turns fast, and the last one hardly at all. Split first: every head uses the whole range of frequencies."
)
right.mistake("RotatesTheInput", loses=EVERYWHERE).patch("""
- query, key, value = map(self.split, self.project(x))
- query, key, value = self.rotate(query, key, value, positions)
+ query, key, _ = map(self.split, self.project(self.turn(x, positions)))
+ value = self.split(self.project(x)[2])
""").feedback(
    "You rotate x before you project it. The projections mix the entries of a pair with all others, so nothing of "
    "the gap is left. Rotate queries and keys."
)
right.mistake("RotatesTheInputOfAllThree", loses=EVERYWHERE).patch("""
- query, key, value = map(self.split, self.project(x))
- query, key, value = self.rotate(query, key, value, positions)
+ query, key, value = map(self.split, self.project(self.turn(x, positions)))
""").feedback(
    "You rotate x before you project it, and you make the values from it too. Rotate queries and keys, after the "
    "heads are split."
)
right.mistake("PairsTheHalves", loses=EVERYWHERE).patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ first, second = x.chunk(2, dim=-1)
+ return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
""").feedback(
    "You pair entry i with entry i + Dk/2. That is the other layout, for weights whose rows are in another order.",
    see=LAYOUTS,
)
right.mistake("TurnsClockwise", {"(x, positions))": "(x, -positions))"}, loses=EVERYWHERE).feedback(
    "You rotate clockwise instead of counter-clockwise. Queries and keys both turn, so the scores still depend on "
    "the gap. But weights that were made for the other direction do not fit.",
    see=TURNING,
)
right.mistake("MissesTheMinusSign", {"even * cos - odd": "even * cos + odd"}, loses=EVERYWHERE).feedback(
    "A minus sign is missing from your rotation. The new x0 is x0·cos − x1·sin. With a plus it is not a rotation.",
    see=TURNING,
)
right.mistake(
    "TurnsInOppositeDirections", {"self.turn(key, positions)": "self.turn(key, -positions)"}, loses=EVERYWHERE
).feedback(
    "You rotate queries and keys in opposite directions. The score then depends on the sum of the positions, not "
    "on the gap.",
    see=GAP,
)
right.mistake("IgnoresThePositions", {" if positions is None else positions": ""}, loses="the positions").feedback(
    "`positions` changes nothing in your module. The positions 0 to T - 1 are only the default."
)
right.mistake(
    "RoundsThePositions", {"else positions": "else positions.long()"}, loses="the positions", clause="positions"
).feedback("You convert the positions to whole numbers. Fractions count: 2.5 is half-way between 2 and 3.")
right.mistake("KeepsTheFirstAngles", loses="the positions").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions))
+ if not hasattr(self, "kept") or self.kept[0].shape[0] != x.shape[-2]:
+     self.kept = cos_and_sin(x, positions)
+ return turn_pairs(x, *self.kept)
""").feedback(
    "You keep the cosines and sines of the first call and use them again for other positions. Keep only the "
    "frequencies, or check that the positions are still the same."
)
right.mistake("RemembersThePositions", loses="self-attention", clause="moment").patch("""
- positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
+ if positions is not None:
+     self.kept = positions
+ positions = getattr(self, "kept", torch.arange(x.shape[1], device=x.device))
""").feedback(
    "You keep the positions of one call for later calls. Without `positions`, they are 0 to T - 1 in each call."
)
right.mistake(
    "AllAtOnePlace", {"arange(x.shape[1], device=x.device)": "full((x.shape[1],), x.shape[1])"}, loses="self-attention"
).feedback(
    "You give all tokens the same position, for instance the length of the text so far. Each token has its own "
    "position."
)
right.mistake(
    "ExchangesTheProjections", {"return self.W_q(x), self.W_k(x), self.W_v(x)": "return ORDER"}, loses=EVERYWHERE
).for_each(
    ORDER=(
        "self.W_k(x), self.W_q(x), self.W_v(x)",
        "self.W_q(x), self.W_v(x), self.W_k(x)",
        "self.W_v(x), self.W_k(x), self.W_q(x)",
    )
).feedback("You exchange two projections. `W_q` makes the queries, `W_k` the keys, `W_v` the values.")
right.mistake("OneProjectionForAll", {"self.W_q(x), self.W_k(x), self.W_v(x)": "ALL"}, loses=EVERYWHERE).for_each(
    ALL=("self.W_q(x), self.W_q(x), self.W_v(x)", "self.W_q(x), self.W_k(x), self.W_k(x)")
).feedback("You make two of query, key and value with one projection. Each role has its own.")
right.mistake("FrequenciesOfTheModelsWidth", loses=EVERYWHERE).patch("""
- def cos_and_sin(x, positions):
-     i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
-     angles = positions.double()[:, None] * 10000.0 ** (-i / x.shape[-1])
+ def cos_and_sin(x, positions, n_heads):
+     i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64, device=x.device)
+     angles = positions.double()[:, None] * 10000.0 ** (-i / x.shape[-1] / n_heads)
@@
- return turn_pairs(x, *cos_and_sin(x, positions))
+ return turn_pairs(x, *cos_and_sin(x, positions, self.n_heads))
""").feedback(
    "Your frequencies are those of a vector as wide as the model. A head has Dk entries, so use Dk in the exponent.",
    see=CLOCKS,
)
right.mistake("LooksUpInAShortTable", loses="the positions").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions))
+ cos, sin = cos_and_sin(x, torch.arange(512))
+ return turn_pairs(x, cos[positions], sin[positions])
""").feedback(
    "You look up cosines and sines in a table for the positions 0 to 511. Positions may be further out, or between "
    "two whole numbers."
)
right.mistake(
    masks.causal_by_default, {"tensor(False)": "ones(scores.shape[-2:], dtype=torch.bool).triu(1)"}, loses=EVERYWHERE
)
right.mistake(
    "ScalesByTheModelsWidth", {"query.shape[-1]": "(query.shape[-1] * self.n_heads)"}, loses=EVERYWHERE
).feedback("You scale by the width of the model. The scores belong to one head, so the width of the head counts.")
right.mistake("PacksTheProjections", loses=("its parameters", *EVERYWHERE)).patch("""
- self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.W_qkv, self.W_o = (nn.Linear(d_model, n * d_model, bias=False) for n in (3, 1))
@@
- return self.W_q(x), self.W_k(x), self.W_v(x)
+ return self.W_qkv(x).chunk(3, dim=-1)
""").feedback("Your module has one packed layer, `W_qkv`. Here it has `W_q`, `W_k` and `W_v`, as in lesson 6.")
right.mistake("LearnsTheFrequencies", loses="its parameters").patch("""
  self.n_heads = n_heads
+ self.frequencies = nn.Parameter(torch.ones(d_model // n_heads // 2))
""").feedback(
    "Your frequencies are parameters, so training would change them. They are not learned: compute them, or "
    "register a buffer."
)
right.mistake(gradients.cut(what="`W_q` and `W_k`"), {"(x, positions))": "(x, positions)).detach()"}, loses="gradients")
add_mistakes(right, EVERYWHERE)
for when, about in (("in training mode", "self.training"), ("with one head", "self.n_heads == 1")):
    right.mistake(
        masks.lost(f"LosesTheMask{when.title().replace(' ', '')}", when=when),
        {"if mask is None else": f"if mask is None or {about} else"},
        loses="masks",
        clause="masks" if about == "self.training" else "",
    )
right.mistake(
    "OpensEmptyRows", {"else mask": "else mask & ~mask.all(-1, keepdim=True)"}, loses="a fully", clause="empty"
).feedback("You open rows that are fully blocked, so they see every key. Their weights and their output should be 0.")
right.mistake(numbers.exponentials_overflow, loses="scores", clause="large").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
+ grown = scores.masked_fill(blocked, -torch.inf).exp()
+ weights = grown / grown.sum(-1, keepdim=True).clamp(min=1e-30)
""")
right.mistake("MultipliesTheMaskByInfinity", loses=("masks", "a fully", "gradients")).patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
+ if mask is not None:
+     scores = scores + mask.to(scores.dtype) * -torch.inf
+ weights = scores.softmax(-1)
""").feedback(
    "You multiply the mask by −∞, so every score that is not blocked becomes NaN. 0 · −∞ is NaN, but these scores "
    "should stay as they are."
)
right.mistake("KeepsThePlacesOfTheFirstCall", loses="self-attention").patch("""
- positions = torch.arange(x.shape[1], device=x.device) if positions is None else positions
+ if positions is None:
+     self.places = positions = getattr(self, "places", torch.arange(x.shape[1], device=x.device))
""").feedback(
    "You make the default positions, or a table of their cosines, in the first call and keep them. The next text "
    "may be longer. Make them for each x, or add those that are missing."
)
right.mistake(
    numbers.default_device("CountsOnAnotherDevice", what="the default positions", how="`device=x.device`"),
    {"x.shape[1], device=x.device": "x.shape[1]"},
    loses="float64",
)
right.mistake(modules.super_init_forgotten, loses=("its parameters", "self-attention")).patch("""
- super().__init__()
""")
right.mistake("TakesPartnersFromTheOtherHalf", loses="self-attention").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions))
+ cos, sin = (part.repeat_interleave(2, -1) for part in cos_and_sin(x, positions))
+ first, second = x.chunk(2, dim=-1)
+ return x * cos + torch.cat([-second, first], dim=-1) * sin
""").feedback(
    "You use the angles of neighbours, but take each entry's partner from the other half (`rotate_half`). Here a "
    "pair is two *neighbours*: entries 0 and 1, 2 and 3, and so on."
)
right.mistake("TurnsTheHalvesClockwise", loses="self-attention").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions))
+ cos, sin = cos_and_sin(x, positions)
+ first, second = x.chunk(2, dim=-1)
+ return torch.cat([first * cos + second * sin, second * cos - first * sin], dim=-1)
""").feedback(
    "You pair each entry with one from the other half, and you rotate clockwise. Here a pair is two neighbours, "
    "and a positive angle rotates counter-clockwise."
)
right.mistake("HasABiasAtTheBeginning", loses="its parameters").patch("""
  self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, d_model) for _ in range(3))
""").feedback("Your projections W_q, W_k and W_v have biases. Make them with `bias=False`, like W_o.")
right.mistake("HasABiasAtTheEnd", loses="its parameters", clause="parameters").patch("""
  self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.W_o = nn.Linear(d_model, d_model)
""").feedback("Your last projection, W_o, has a bias. Make it with `bias=False`, like the others.")
