"""Known mistakes in `RotarySelfAttention`."""

from ..common import CLOCKS, LAYOUTS, TURNING
from .contract import rotary

right = rotary.base("""
def cos_and_sin(x, positions, base):
    i = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    angles = positions.double()[:, None] * base ** (-i / x.shape[-1])
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def turn_pairs(x, cos, sin):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.n_heads, self.base = n_heads, base
        self.make(d_model)

    def make(self, d_model):
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def project(self, x):
        return self.W_qkv(x).chunk(3, dim=-1)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def places(self, x, positions):
        return torch.arange(x.shape[1]) if positions is None else positions

    def turn(self, x, positions):
        return turn_pairs(x, *cos_and_sin(x, positions, self.base))

    def rotate(self, query, key, value, positions):
        return self.turn(query, positions), self.turn(key, positions), value

    def score(self, query, key):
        return query @ key.mT / query.shape[-1] ** 0.5

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)

    def finish(self, output, weights):
        return self.W_o(output), weights

    def forward(self, x, positions=None, mask=None):
        query, key, value = map(self.split, self.project(x))
        query, key, value = self.rotate(query, key, value, self.places(x, positions))
        weights = self.weigh(self.score(query, key), mask)
        return self.finish(self.merge(weights @ value), weights)
""")

right.mistake("RotatesNothing", shows=("self-attention", "the positions", "the base")).patch("""
- return self.turn(query, positions), self.turn(key, positions), value
+ return query, key, value
""").says(
    "Your module gives what attention gives without positions: nothing is rotated, or all words of a head by the same "
    "angle. Words are dimension -2 only after heads and words have changed places; rotate then."
)
right.mistake("RotatesOnlyTheQueries", shows=("self-attention", "the positions", "the base")).patch("""
- return self.turn(query, positions), self.turn(key, positions), value
+ return self.turn(query, positions), key, value
""").says(
    "Only the queries are rotated. A score depends on the gap between two positions only if both are turned, each by its "
    "own."
)
right.mistake("RotatesOnlyTheKeys", shows=("self-attention", "the positions", "the base")).patch("""
- return self.turn(query, positions), self.turn(key, positions), value
+ return query, self.turn(key, positions), value
""").says(
    "Only the keys are rotated. A score depends on the gap between two positions only if both are turned, each by its own."
)
right.mistake("RotatesTheValuesToo", shows=("self-attention", "the positions", "the base")).patch("""
- return self.turn(query, positions), self.turn(key, positions), value
+ return tuple(self.turn(t, positions) for t in (query, key, value))
""").says(
    "The values are rotated, too. The weights are right, and what they pass on is turned by where it stood: values stay "
    "as they are."
)
right.mistake(
    "RotatesBeforeTheSplit",
    {
        "map(self.split, self.project(x))": "self.rotate(*self.project(x), self.places(x, positions))",
        "self.rotate(query, key, value, self.places(x, positions))": "map(self.split, (query, key, value))",
    },
    shows=("self-attention", "the positions", "the base"),
).says(
    "You rotate before you split the heads, so the frequencies are those of the whole width D: the first head turns fast, "
    "the last hardly at all. Split first; every head has all the clocks."
)
right.mistake(
    "RotatesTheInput",
    {
        "query, key, value = map(self.split, self.project(x))": "query, key, _ = map(self.split, self.project(self.turn(x, self.places(x, positions))))",
        "query, key, value = self.rotate(query, key, value, self.places(x, positions))": "value = self.split(self.project(x)[2])",
    },
    shows=("self-attention", "the positions", "the base"),
).says(
    "x is rotated before it is projected. The projections mix the numbers of a pair with all others, and nothing of the "
    "gap is left: rotate queries and keys."
)
right.mistake("RotatesTheInputOfAllThree", shows=("self-attention", "the positions", "the base")).patch("""
- query, key, value = map(self.split, self.project(x))
- query, key, value = self.rotate(query, key, value, self.places(x, positions))
+ query, key, value = map(self.split, self.project(self.turn(x, self.places(x, positions))))
""").says(
    "x is rotated before it is projected, and the values are made from it, too. Rotate queries and keys, after the "
    "heads are split."
)
right.mistake("PairsTheHalves", shows=("self-attention", "the positions", "the base")).patch("""
- def turn_pairs(x, cos, sin):
-     even, odd = x[..., 0::2], x[..., 1::2]
-     return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ def halves_for_neighbours(x, positions, base=10000.0):
+     cos, sin = cos_and_sin(x, positions, base)
+     first, second = x.chunk(2, dim=-1)
+     return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
@@
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ return halves_for_neighbours(x, positions, self.base)
""").says(
    "You pair number i with number i + K/2. That is the other layout, and needs the rows of W_qkv in another order.",
    see=LAYOUTS,
)
right.mistake("TurnsClockwise", shows=("self-attention", "the positions", "the base")).patch("""
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ return turn_pairs(x, *cos_and_sin(x, -positions, self.base))
""").says(
    "You rotate clockwise. Both queries and keys, so the scores still depend on the gap; but weights that were made for "
    "the other direction do not fit.",
    see=TURNING,
)
right.mistake("MissesTheMinusSign", shows=("self-attention", "the positions", "the base")).patch("""
- def turn_pairs(x, cos, sin):
+ def misses_the_minus_sign(x, positions, base=10000.0):
+     cos, sin = cos_and_sin(x, positions, base)
@@
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ return torch.stack([even * cos + odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
@@
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ return misses_the_minus_sign(x, positions, self.base)
""").says("A minus sign is missing: x0 becomes x0·cos − x1·sin. With a plus this is no rotation.", see=TURNING)
right.mistake("TurnsInOppositeDirections", shows=("self-attention", "the positions", "the base")).patch("""
- return self.turn(query, positions), self.turn(key, positions), value
+ return self.turn(query, positions), self.turn(key, -positions), value
""").says(
    "Queries and keys are turned in opposite directions: the score depends on the sum of the positions, not on the gap.",
    see="5. Only the gap counts",
)
right.mistake(
    "IgnoresThePositions", {") if positions is None else positions": ")"}, shows=("the positions", "the base")
).says("`positions` changes nothing: 0 … T-1 is only the default.")
right.mistake("RoundsThePositions", {"else positions": "else positions.long()"}, shows="the positions").says(
    "The positions were made whole numbers. Fractions count: 2.5 lies half-way between 2 and 3."
)
right.mistake("KeepsTheFirstAngles", shows="the positions").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ if not hasattr(self, "kept") or self.kept[0].shape[0] != x.shape[-2]:
+     self.kept = cos_and_sin(x, positions, self.base)
+ return turn_pairs(x, *self.kept)
""").says(
    "Cosines and sines of the first call are kept and used again, for other positions. Keep frequencies, if anything, or "
    "look at whether the positions are still the same."
)
right.mistake("RemembersThePositions", shows="self-attention").patch("""
- return torch.arange(x.shape[1]) if positions is None else positions
+ if positions is not None:
+     self.kept = positions
+ return getattr(self, "kept", torch.arange(x.shape[1]))
""").says("Positions that were given once are kept for later calls. Without positions they are 0 … T-1, each time.")
right.mistake("AllAtOnePlace", shows="self-attention").patch("""
- return torch.arange(x.shape[1]) if positions is None else positions
+ return torch.full((x.shape[1],), x.shape[1]) if positions is None else positions
""").says(
    "All tokens stand at the same place, for instance at the length of the text so far. Each has a position of its own."
)
right.mistake("IgnoresTheBase", {"self.base)": "10000.0)"}, shows="the base").says(
    "`base` changes nothing. Hand it on to your rotation.", see=CLOCKS
)
right.mistake("TakesKeysBeforeQueries", shows=("self-attention", "the positions", "the base")).patch("""
- return self.W_qkv(x).chunk(3, dim=-1)
+ key, query, value = self.W_qkv(x).chunk(3, dim=-1)
+ return query, key, value
""").says(
    "The rows of W_qkv are taken in another order: first come those of the queries, then of the keys, then of the values."
)
right.mistake("ReadsThePackedRowsHeadByHead", shows=("self-attention", "the positions")).patch("""
- return self.W_qkv(x).chunk(3, dim=-1)
+ size = x.shape[-1] // self.n_heads
+ parts = self.W_qkv(x).unflatten(-1, (self.n_heads, 3, size))
+ return tuple(parts[..., i, :].flatten(-2) for i in range(3))
""").says(
    "You read W_qkv head by head, q, k and v of head 0 first. Its rows are all queries, then all keys, then all values; "
    "only inside each third do they belong to the heads in turn."
)
right.mistake("FrequenciesOfTheModelsWidth", shows=("self-attention", "the positions", "the base")).patch("""
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ return turn_pairs(x, *cos_and_sin(x, positions, self.base ** (1 / self.n_heads)))
""").says(
    "The frequencies are those of a vector as wide as the model. A head has K numbers, and K stands in the exponent.",
    see=CLOCKS,
)
right.mistake("LooksUpInAShortTable", shows="the positions").patch("""
- return turn_pairs(x, *cos_and_sin(x, positions, self.base))
+ cos, sin = cos_and_sin(x, torch.arange(512), self.base)
+ return turn_pairs(x, cos[positions], sin[positions])
""").says(
    "Cosines and sines are looked up in a table for the positions 0 to 511. Positions may lie farther out, and between two "
    "whole numbers."
)
right.mistake(
    "ForgetsToMix", {"self.W_o(output)": "output"}, shows=("self-attention", "the positions", "the base")
).says("The last step is missing: W_o mixes the heads' answers.")
right.mistake("DoesNotScale", shows=("self-attention", "the positions", "the base")).patch("""
- return query @ key.mT / query.shape[-1] ** 0.5
+ return query @ key.mT
""").says("Your scores are not scaled: divide them by the root of the width of one head.")
right.mistake(
    "ScalesWithoutTheRoot", {"[-1] ** 0.5": "[-1]"}, shows=("self-attention", "the positions", "the base")
).says("You divide the scores by the width of a head, and must divide by its root.")
right.mistake(
    "SoftmaxOverHeads",
    {
        "scores.softmax(-1)": "scores.softmax(1)",
        "scores.masked_fill(mask, -torch.inf).softmax(-1)": "scores.masked_fill(mask, torch.finfo(scores.dtype).min).softmax(1)",
    },
    shows=("self-attention", "the positions", "the base"),
).says("Your softmax runs over the heads: it is the keys, the last dimension, that share the weight.")
right.mistake("ReturnsTheWeightsFirst", shows=("self-attention", "the positions", "the base")).patch("""
- return self.W_o(output), weights
+ return weights, self.W_o(output)
""").says("You return the weights first. The order is (output, weights).")
right.mistake("BlocksTheFutureUnasked", shows=("self-attention", "the positions", "the base")).patch("""
  def weigh(self, scores, mask):
+     T = scores.shape[-1]
@@
- return scores.softmax(-1)
+ mask = torch.ones(T, T, dtype=torch.bool).triu(1)
""").says("Without a mask the future is blocked, as in a language model. Without a mask nothing is blocked.")
right.mistake("ScalesByTheModelsWidth", shows=("self-attention", "the positions", "the base")).patch("""
- return query @ key.mT / query.shape[-1] ** 0.5
+ return query @ key.mT / (query.shape[-1] * self.n_heads) ** 0.5
""").says("You scale by the width of the model: the scores belong to one head, so its width counts.")
right.mistake("CutsBetweenWords", shows=("self-attention", "the positions", "the base")).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.reshape(len(x), self.n_heads, x.shape[1], -1)
""").says(
    "You cut the heads by reshape alone, so each of them sees a few whole words: split the last dimension, then exchange "
    "two."
)
right.mistake("MergesByReshapeAlone", shows=("self-attention", "the positions", "the base")).patch("""
- return x.transpose(1, 2).flatten(2)
+ return x.reshape(len(x), x.shape[2], -1)
""").says("The weights are right, the output is not: you merge the heads without exchanging heads and words first.")
right.mistake(
    "SoftmaxOverQueries",
    {
        "scores.softmax(-1)": "scores.softmax(-2)",
        "scores.masked_fill(mask, -torch.inf).softmax(-1)": "scores.masked_fill(mask, -torch.inf).softmax(-2)",
    },
    shows=("self-attention", "the positions", "the base"),
).says("Your softmax runs over the queries: it is the keys, the last dimension, that share the weight.")
right.mistake("AveragesTheWeights", shows=("self-attention", "the positions", "the base")).patch("""
- return self.W_o(output), weights
+ return self.W_o(output), weights.mean(1)
""").says("You return the mean of the weights over the heads. Return one map for each head.")
right.mistake("ReturnsTheOutputAlone", shows=("self-attention", "the positions", "the base")).patch("""
- return self.W_o(output), weights
+ return self.W_o(output)
""").says("You return the output alone; the weights belong to it: (output, weights).")
right.mistake("InvertsTheMask", shows=("masks", "a fully")).patch("""
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
""").says("Your mask works the wrong way round: True means blocked.")
right.mistake("IgnoresTheMask", shows=("masks", "a fully")).patch("""
- if mask is None:
-     return scores.softmax(-1)
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ return scores.softmax(-1)
""").says("The mask changes nothing.")
right.mistake("MasksAfterTheSoftmax", shows="masks").patch("""
- if mask is None:
-     return scores.softmax(-1)
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ return scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(mask, 0.0)
""").says("You set blocked weights to 0 after the softmax, and so the others no longer sum to 1. Block the scores.")
right.mistake("AddsADimensionToTheMask", shows="masks").patch("""
+ mask = mask.unsqueeze(1)
  return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
""").says("You add a dimension to the mask. It need not have four; it broadcasts to (B, H, T, T) as it is.")
right.mistake("LeavesBlockedRowsNaN", shows="a fully").patch("""
- if mask is None:
-     return scores.softmax(-1)
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ return scores.softmax(-1) if mask is None else scores.masked_fill(mask, -torch.inf).softmax(-1)
""").says("A row that is blocked throughout is NaN: the softmax of nothing but −∞. Its weights must be 0.")
right.mistake("RepairsTheForwardPassOnly", shows=("a fully", "gradients")).patch("""
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ return (scores + torch.zeros_like(scores).masked_fill(mask, -torch.inf)).softmax(-1).nan_to_num(0.0)
""").says(
    "A row that is blocked throughout is NaN in the gradient only: `nan_to_num` repairs the weights, but on the way "
    "back 0 · NaN is NaN. Fill the blocked scores instead of adding −∞."
)
right.mistake("SpreadsBlockedRowsEvenly", shows="a fully").patch("""
- if mask is None:
-     return scores.softmax(-1)
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ lowest = torch.finfo(scores.dtype).min
+ return scores.softmax(-1) if mask is None else scores.masked_fill(mask, lowest).softmax(-1)
""").says(
    "A row that is blocked throughout gets equal weights: all its scores are the same large negative number. Its "
    "weights must be 0."
)
right.mistake("FillsWithAFixedNumber", {"torch.inf": "1e9"}, shows="scores").says(
    "You set blocked scores to a fixed number such as −1e9. Real scores can be lower than that, and then it is the "
    "blocked ones that win."
)
right.mistake("HasBiases", shows="its parameters").patch("""
- self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
- self.W_o = nn.Linear(d_model, d_model, bias=False)
+ self.W_qkv, self.W_o = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
""").says("Your projections have a bias. Make them with `bias=False`.")
right.mistake("HasThreeProjections", shows=("its parameters", "self-attention", "the positions", "the base")).patch("""
- self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
- self.W_o = nn.Linear(d_model, d_model, bias=False)
+ self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
@@
- return self.W_qkv(x).chunk(3, dim=-1)
+ return self.W_q(x), self.W_k(x), self.W_v(x)
""").says("Your module has W_q, W_k and W_v. Here they are packed into one layer, W_qkv, with 3D outputs.")
right.mistake("LearnsTheFrequencies", shows="its parameters").patch("""
  self.W_o = nn.Linear(d_model, d_model, bias=False)
+ self.frequencies = nn.Parameter(torch.ones(d_model // self.n_heads // 2))
""").says(
    "Your frequencies are parameters, so training would change them. They are no part of what is learned: compute them, or "
    "register a buffer."
)
right.mistake("DetachesTheRotated", {"self.base))": "self.base)).detach()"}, shows="gradients").says(
    "The numbers are right, but queries and keys were detached (or rotated under no_grad): nothing that they do is ever "
    "learned."
)
right.mistake("ComputesInFloat32", shows="float64").patch("""
  def weigh(self, scores, mask):
+     scores = scores.float()
@@
- return self.finish(self.merge(weights @ value), weights)
+ return self.finish(self.merge((weights @ value.float()).to(x.dtype)), weights)
""").says("You compute in float32 whatever the dtype of x is.")
right.mistake("TurnsTheMaskRoundInPlace", shows="float64").patch("""
- return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask, 0.0)
+ mask.logical_not_()
+ return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
""").says(
    "You turn the mask round in place: whoever handed it to you now holds its opposite. Make a new one with `~mask`."
)
