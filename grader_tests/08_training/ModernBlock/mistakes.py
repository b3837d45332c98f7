"""Known mistakes in `ModernBlock`."""

from ...shared.families import arguments, gradients, masks, modules, numbers, scores, shapes
from .contract import modern_block

PLAIN = "x plus"
EVERYWHERE = (PLAIN, "queries and keys", "causal")  # what an answer loses whose every result is wrong

right = modern_block.reference_answer("""
class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def norm(self, x, gain):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x / (mean_square + 1e-6).sqrt() * gain

    def turn(self, x):
        T, K = x.shape[-2:]
        exponents = torch.arange(0, K, 2, dtype=torch.float64, device=x.device) / K
        positions = torch.arange(T, device=x.device)
        angles = positions[:, None] * 10000.0**-exponents
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def rotated(self, q, k, v):
        if self.rotates:
            q, k = self.turn(q), self.turn(k)
        return q, k, v

    def weigh(self, scores):
        T = scores.shape[-1]
        future = torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)
        return scores.masked_fill(future, -torch.inf).softmax(-1)

    def attend(self, a):
        q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(self.W_v(a))
        q, k, v = self.rotated(q, k, v)
        weights = self.weigh(q @ k.mT / q.shape[-1] ** 0.5)
        return self.W_o(self.merge(weights @ v))

    def mlp(self, a):
        return self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))

    def forward(self, x):
        x = x + self.attend(self.norm(x, self.gain_1))
        return x + self.mlp(self.norm(x, self.gain_2))
""")

# the norms
right.mistake("SubtractsTheMean", loses=EVERYWHERE).patch("""
+ x = x - x.mean(dim=-1, keepdim=True)
  mean_square = x.square().mean(dim=-1, keepdim=True)
""").feedback(
    "You subtract the mean before you normalise, as LayerNorm does. RMSNorm divides by the root mean square, and "
    "subtracts nothing."
)
right.mistake("LosesTheGains", {".sqrt() * gain": ".sqrt()"}, loses=EVERYWHERE).feedback(
    "You do not multiply by the gains. Each norm has its own, `gain_1` or `gain_2`, with one number per entry."
)
right.mistake("AddsOneToTheGains", {"* gain": "* (1 + gain)"}, loses=EVERYWHERE).feedback(
    "You multiply by 1 + gain, as some models do whose gains start at 0. Here they start at 1: multiply by the gain."
)
right.mistake(
    "GainsStartAtZero",
    {
        "= nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))": (
            "= nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.zeros(d_model))"
        )
    },
    loses="its parameters",
).feedback("Your gains start at 0, so nothing reaches attention or the gated layer at first. They start at 1.")
right.mistake(
    "GainsStartAtRandom",
    {
        "= nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))": (
            "= nn.Parameter(torch.randn(d_model)), nn.Parameter(torch.randn(d_model))"
        )
    },
    loses="its parameters",
).feedback("Your gains start at random numbers. They start at 1: make them with `torch.ones`.")
right.mistake("ForgetsTheRoot", {".sqrt() * gain": " * gain"}, loses=EVERYWHERE).feedback(
    "You divide by the mean square instead of its root. After RMSNorm the mean square is 1, whatever it was before."
)
right.mistake("DividesByTheLength", {"square().mean": "square().sum"}, loses=EVERYWHERE).feedback(
    "You divide by the length of each vector. RMSNorm takes the *mean* of the squares under the root, not their sum."
)
right.mistake("NormalisesOverPositions", {"mean(dim=-1": "mean(dim=1"}, loses=EVERYWHERE).feedback(
    "You take the mean over the positions, so a vector depends on those after it. Take it over the last dimension."
)
right.mistake("NormalisesTheWholeTensor", {"mean(dim=-1, keepdim=True)": "mean()"}, loses=EVERYWHERE).feedback(
    "You take one mean for the whole tensor. Each position has its own, over the last dimension."
)
right.mistake("AddsEpsToTheRoot", {"(mean_square + 1e-6).sqrt()": "(mean_square.sqrt() + 1e-6)"}, loses=PLAIN).feedback(
    "You add 1e-6 to the root. It belongs under the root, where it counts for entries of about 0.001."
)
right.mistake("TakesAnotherEps", {"1e-6": "EPS"}, loses=PLAIN).for_each(
    EPS=(1e-5, 1e-8, 1e-12, 1.1920929e-07)
).feedback(
    "Your small number under the root is not 1e-6. PyTorch's LayerNorm has 1e-5, and its RMSNorm that of the dtype."
)
right.mistake(
    "UsesOneGainTwice", {"self.norm(x, self.gain_2)": "self.norm(x, self.gain_1)"}, loses=EVERYWHERE
).feedback("You use `gain_1` twice. The gated layer's norm has `gain_2`.")
right.mistake(
    "SwapsTheGains",
    {
        "self.norm(x, self.gain_1)": "self.norm(x, self.gain_2)",
        "self.norm(x, self.gain_2)": "self.norm(x, self.gain_1)",
    },
    loses=EVERYWHERE,
).feedback("You have swapped the two gains: `gain_1` belongs to attention.")

# the sums
right.mistake("NormalisesAfterwards", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1))
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = self.norm(x + self.attend(x), self.gain_1)
+ return self.norm(x + self.mlp(x), self.gain_2)
""").feedback(
    "You normalise after the additions; this block normalises before them. Normalise what goes into attention and "
    "into the gated layer, and let x itself pass unchanged."
)
right.mistake("ForgetsTheFirstNorm", {"self.norm(x, self.gain_1)": "x"}, loses=EVERYWHERE).feedback(
    "You do not normalise what goes into attention."
)
right.mistake("ForgetsTheSecondNorm", {"self.norm(x, self.gain_2)": "x"}, loses=EVERYWHERE).feedback(
    "You do not normalise what goes into the gated layer."
)
right.mistake("LosesTheFirstSum", {"x + self.attend": "self.attend"}, loses=EVERYWHERE).feedback(
    "You replace x with attention's result instead of adding the result to x."
)
right.mistake("LosesTheSecondSum", {"x + self.mlp": "self.mlp"}, loses=EVERYWHERE).feedback(
    "You return the gated layer's result alone, without adding the x that went into its norm."
)
right.mistake("AddsToTheNormalised", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1))
+ x = self.norm(x, self.gain_1)
+ x = x + self.attend(x)
""").feedback(
    "You add attention's result to the normalised x. Add it to x as it came in: keep the normalised one under another "
    "name."
)
right.mistake("AddsToTheNormalisedSum", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = self.norm(x, self.gain_2)
+ return x + self.mlp(x)
""").feedback("You add the gated layer's result to the normalised sum. Add it to the sum as it was before its norm.")
right.mistake("WorksSideBySide", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1))
- return x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.attend(self.norm(x, self.gain_1)) + self.mlp(self.norm(x, self.gain_2))
""").feedback(
    "You start both attention and the gated layer from the x that came in. The second works on the sum of x and "
    "attention's result."
)
right.mistake("PutsTheMlpFirst", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1))
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.attend(self.norm(x, self.gain_1))
""").feedback("You apply the gated layer before attention; attention comes first.")
right.mistake("AddsThePair", loses=EVERYWHERE).patch("""
- return self.W_o(self.merge(weights @ v))
+ return self.W_o(self.merge(weights @ v)), weights
""").feedback(
    "You add attention's pair (output, weights) to x, and a tuple cannot be added. Take the output alone.",
)
right.mistake("ReturnsTheWeightsToo", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.mlp(self.norm(x, self.gain_2)), None
""").feedback("You return a pair. The next block takes what you return as its x: return the sum alone.")

# the gated layer
right.mistake(
    "GatesByTheOther",
    {"F.silu(self.W_gate(a)) * self.W_up(a)": "self.W_gate(a) * F.silu(self.W_up(a))"},
    loses=EVERYWHERE,
).feedback("You put the result of `W_up` through silu. The gate goes through it: the result of `W_gate`.")
right.mistake("GatesByASigmoid", {"F.silu(self.W_gate(a))": "self.W_gate(a).sigmoid()"}, loses=EVERYWHERE).feedback(
    "Your gate is a sigmoid, as in a GLU. It should be silu: z times the sigmoid of z."
)
right.mistake("GatesByGelu", {"F.silu": "F.gelu"}, loses=EVERYWHERE).feedback(
    "Your gate goes through GELU, as in a GEGLU. It should be silu."
)
right.mistake("GatesByRelu", {"F.silu": "F.relu"}, loses=EVERYWHERE).feedback(
    "Your gate goes through ReLU. It should be silu."
)
right.mistake("DoesNotBend", {"F.silu(self.W_gate(a))": "self.W_gate(a)"}, loses=EVERYWHERE).feedback(
    "Nothing goes through silu in your gated layer. The gate does, before the product."
)
right.mistake("BendsBoth", {"* self.W_up(a)": "* F.silu(self.W_up(a))"}, loses=EVERYWHERE).feedback(
    "You put both results through silu. Only the gate goes through it."
)
right.mistake(
    "BendsTheProduct",
    {"F.silu(self.W_gate(a)) * self.W_up(a)": "F.silu(self.W_gate(a) * self.W_up(a))"},
    loses=EVERYWHERE,
).feedback("You put the product through silu. Only the gate goes through it, before the product.")
right.mistake("AddsTheGate", {"a)) * self.W_up": "a)) + self.W_up"}, loses=EVERYWHERE).feedback(
    "You add the gate to the other half. Multiply the two, entry by entry."
)
right.mistake(
    "LeavesOutTheGate", {"F.silu(self.W_gate(a)) * self.W_up(a)": "F.silu(self.W_up(a))"}, loses=EVERYWHERE
).feedback("You leave out `W_gate`, so your layer has no gate. Its silu multiplies the result of `W_up`.")
right.mistake("LeavesOutTheOther", {" * self.W_up(a)": ""}, loses=EVERYWHERE).feedback(
    "You leave out `W_up`. Its result is what the gate multiplies."
)
right.mistake("GatesTheRawStream", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ a = self.norm(x, self.gain_2)
+ return x + self.W_down(F.silu(self.W_gate(x)) * self.W_up(a))
""").feedback("Your gate looks at x before its norm. `W_gate` and `W_up` both get the normalised x.")
right.mistake(
    "IgnoresTheHiddenSize",
    {
        "W_up, self.W_gate = (nn.Linear(d_model, hidden,": "W_up, self.W_gate = (nn.Linear(d_model, 4 * d_model,",
        "nn.Linear(hidden, d_model": "nn.Linear(4 * d_model, d_model",
    },
    loses=("its parameters", *EVERYWHERE),
).feedback("You ignore `hidden` and widen to four times the width. The gated layer has `hidden` entries.")

# attention
right.mistake(scores.unscaled, {"k.mT / q.shape[-1] ** 0.5": "k.mT"}, loses=EVERYWHERE)
right.mistake(scores.scaled_by_width, {"q.shape[-1] ** 0.5": "q.shape[-1]"}, loses=EVERYWHERE).feedback(
    "You divide the scores by K instead of √K, or by √K twice. `F.scaled_dot_product_attention` scales by itself."
)
right.mistake(scores.power_divided, {"/ q.shape[-1] ** 0.5": "* q.shape[-1] ** -1 / 2"}, loses=EVERYWHERE)
right.mistake("ScalesByTheModelsWidth", {"q.shape[-1] ** 0.5": "a.shape[-1] ** 0.5"}, loses=EVERYWHERE).feedback(
    "You scale by the width of the model. The scores belong to one head, so the width of the head counts."
)
right.mistake(scores.softmax_over_heads, {"softmax(-1)": "softmax(1)"}, loses=EVERYWHERE)
right.mistake(scores.softmax_over_queries, {"softmax(-1)": "softmax(-2)"}, loses=EVERYWHERE)
right.mistake("SeesTheFuture", {"scores.masked_fill(future, -torch.inf)": "scores"}, loses="causal").feedback(
    "Your attention is not causal: a position sees those after it. Block every score whose key is later than its query."
)
right.mistake("BlocksItself", {"triu(1)": "triu(0)"}, loses=EVERYWHERE).feedback(
    "You block each position from itself too, so the first one has nothing to look at, and becomes NaN. Only later "
    "keys are blocked."
)
right.mistake("SeesOneTooFar", {"triu(1)": "triu(2)"}, loses="causal").feedback(
    "You let each position see the next one. Every key that is later than its query is blocked, the next one too."
)
right.mistake("BlocksThePast", {"triu(1)": "tril(-1)"}, loses=EVERYWHERE).feedback(
    "You block the past and show the future. Rows are queries and columns keys: block what is above the diagonal."
)
right.mistake("TakesTheMaskForAllowed", loses=EVERYWHERE).patch("""
- weights = self.weigh(q @ k.mT / q.shape[-1] ** 0.5)
- return self.W_o(self.merge(weights @ v))
+ future = torch.ones(a.shape[1], a.shape[1], dtype=torch.bool, device=a.device).triu(1)
+ return self.W_o(self.merge(F.scaled_dot_product_attention(q, k, v, attn_mask=future)))
""").feedback(
    "Your mask means “blocked”, but for F.scaled_dot_product_attention True means “allowed”. Invert the mask, or pass "
    "`is_causal=True` alone."
)
right.mistake("BlocksByANumber", {"-torch.inf": "FILL"}, loses="causal").for_each(FILL=(-1e9, -1e4)).feedback(
    "You fill blocked scores with a number such as -1e9. That fails where the other scores are lower still: use −∞."
)
right.mistake(
    masks.after_softmax,
    {"scores.masked_fill(future, -torch.inf).softmax(-1)": "scores.softmax(-1).masked_fill(future, 0.0)"},
    loses="causal",
)
right.mistake(
    "CutsBetweenWords",
    {"x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": "x.reshape(len(x), self.n_heads, x.shape[1], -1)"},
    loses=EVERYWHERE,
).feedback(
    "You split the heads by reshaping alone, so each head sees pieces of a few positions. Split the last dimension, "
    "then swap heads and positions."
)
right.mistake(
    "MergesByReshapeAlone", {"x.transpose(1, 2).flatten(2)": "x.reshape(len(x), x.shape[2], -1)"}, loses=EVERYWHERE
).feedback("You merge the heads without first swapping heads and positions.")
right.mistake("AttendsAcrossHeads", loses=EVERYWHERE).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.unflatten(-1, (self.n_heads, -1))
@@
- return x.transpose(1, 2).flatten(2)
+ return x.flatten(2)
""").feedback(
    "You never swap heads and positions, so the heads of a position attend to each other. Swap the two dimensions "
    "after the split, and back before the merge."
)
right.mistake(
    "ForgetsToMix", {"self.W_o(self.merge(weights @ v))": "self.merge(weights @ v)"}, loses=EVERYWHERE
).feedback("You leave out `W_o` at the end of attention. It mixes the results of the heads.")
right.mistake("TakesRawValues", loses=EVERYWHERE).patch("""
- q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(self.W_v(a))
+ q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(a)
""").feedback("You take the normalised x itself for the values. They are its projection by `W_v`.")
right.mistake("SwapsQueriesAndKeys", {"q @ k.mT": "k @ q.mT"}, loses=EVERYWHERE).feedback(
    "You have swapped queries and keys. Rows of the scores belong to queries, columns to keys."
)

# the rotation
right.mistake("RotatesNothing", {"q, k = self.turn(q), self.turn(k)": "pass"}, loses="queries and keys").feedback(
    "You rotate nothing, or all positions of a head by the same angle. Positions are dimension -2 only after heads and "
    "positions were swapped: rotate then."
)
right.mistake("RotatesAlways", {"if self.rotates": "if True"}, loses=(PLAIN, "causal")).feedback(
    "You rotate queries and keys although `rotates` is False. A block without rotation leaves both as they are."
)
right.mistake("RotatesTheOtherWayRound", {"if self.rotates": "if not self.rotates"}, loses=EVERYWHERE).feedback(
    "You rotate exactly where `rotates` is False. True means that queries and keys are rotated."
)
right.mistake(
    "RotatesOnlyTheQueries", {"self.turn(q), self.turn(k)": "self.turn(q), k"}, loses="queries and keys"
).feedback("You rotate only the queries. A score depends on the gap only if queries and keys are both rotated.")
right.mistake(
    "RotatesOnlyTheKeys", {"self.turn(q), self.turn(k)": "q, self.turn(k)"}, loses="queries and keys"
).feedback("You rotate only the keys. A score depends on the gap only if queries and keys are both rotated.")
right.mistake(
    "RotatesTheValuesToo",
    {"q, k = self.turn(q), self.turn(k)": "q, k, v = self.turn(q), self.turn(k), self.turn(v)"},
    loses="queries and keys",
).feedback("You rotate the values too. They stay as they are: what is fetched does not depend on its position.")
right.mistake("RotatesBeforeTheSplit", loses="queries and keys").patch("""
- q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(self.W_v(a))
- q, k, v = self.rotated(q, k, v)
+ q, k, v = self.rotated(self.W_q(a), self.W_k(a), self.W_v(a))
+ q, k, v = self.split(q), self.split(k), self.split(v)
""").feedback(
    "You rotate before you split the heads, so the frequencies are those of the whole width. Split first: every head "
    "uses the whole range of frequencies."
)
right.mistake("RotatesBeforeTheSwap", loses="queries and keys").patch("""
- T, K = x.shape[-2:]
+ T, K = x.shape[1], x.shape[-1]
@@
- q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(self.W_v(a))
- q, k, v = self.rotated(q, k, v)
+ parts = (layer(a).unflatten(-1, (self.n_heads, -1)) for layer in (self.W_q, self.W_k, self.W_v))
+ q, k, v = (part.transpose(1, 2) for part in self.rotated(*parts))
""").feedback(
    "You rotate (B, T, H, K), before heads and positions are swapped, so the heads are taken for positions. Positions "
    "must be dimension -2: swap first, then rotate."
)
right.mistake("RotatesTheInput", loses="queries and keys").patch("""
- q, k, v = self.split(self.W_q(a)), self.split(self.W_k(a)), self.split(self.W_v(a))
- q, k, v = self.rotated(q, k, v)
+ t = self.turn(a) if self.rotates else a
+ q, k, v = self.split(self.W_q(t)), self.split(self.W_k(t)), self.split(self.W_v(a))
""").feedback(
    "You rotate x before you project it. The projections mix the entries of a pair with all others: rotate queries "
    "and keys."
)
right.mistake("PairsTheHalves", loses="queries and keys").patch("""
- even, odd = x[..., 0::2], x[..., 1::2]
- return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
+ even, odd = x.chunk(2, dim=-1)
+ return torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
""").feedback(
    "You pair entry i with entry i + K/2. Here a pair is two neighbours: entries 0 and 1, 2 and 3, and so on."
)
right.mistake("TurnsClockwise", {"positions[:, None]": "-positions[:, None]"}, loses="queries and keys").feedback(
    "You rotate clockwise instead of counter-clockwise. Weights that were made for one direction do not fit the other."
)
right.mistake("MissesTheMinusSign", {"even * cos - odd": "even * cos + odd"}, loses="queries and keys").feedback(
    "A minus sign is missing from your rotation. The new x0 is x0·cos − x1·sin."
)
right.mistake(
    "StepsByOne", {"torch.arange(0, K, 2, dtype": "torch.arange(K // 2, dtype"}, loses="queries and keys"
).feedback("Your exponents are half as large as they should be. That of pair i is −2i / K.")
right.mistake("TakesAnotherBase", {"10000.0": "BASE"}, loses="queries and keys").for_each(
    BASE=(1000.0, 500000.0, 1000000.0, 10.0)
).feedback("The base of your frequencies is not 10000.")
right.mistake(
    "FrequenciesOfTheModelsWidth",
    {"device=x.device) / K": "device=x.device) / (K * self.n_heads)"},
    loses="queries and keys",
).feedback(
    "Your frequencies are those of a vector as wide as the model. A head has K entries, so use K in the exponent."
)
right.mistake("KeepsTheFirstAngles", loses=("queries and keys", "causal")).patch("""
- positions = torch.arange(T, device=x.device)
+ positions = self.kept = getattr(self, "kept", torch.arange(T, device=x.device))
""").feedback(
    "You make the positions, or a table of their cosines, in the first call and keep them. The next text may be "
    "longer or shorter: make them for each x."
)
right.mistake("KeepsTheFirstMask", loses="causal").patch("""
- future = torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)
+ future = torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1)
+ future = self.future = getattr(self, "future", future)
""").feedback("You make the mask in the first call and keep it. The next text may be longer or shorter.")
right.mistake(
    "SharesTheSwitch", {"self.n_heads, self.rotates =": "self.n_heads, type(self).rotates ="}, loses="queries and keys"
).feedback("All blocks of your class share one `rotates`. A second block changes that of the first: keep it in `self`.")

# the parameters
right.mistake("HasBiases", loses="its parameters").patch("""
- self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
""").feedback("Your projections have biases. All layers of this block are made with `bias=False`.")
right.mistake("HasBiasesInTheMlp", loses="its parameters").patch("""
- self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
- self.W_down = nn.Linear(hidden, d_model, bias=False)
+ self.W_up, self.W_gate = (nn.Linear(d_model, hidden) for _ in range(2))
+ self.W_down = nn.Linear(hidden, d_model)
""").feedback("Your gated layer has biases. All layers of this block are made with `bias=False`.")
right.mistake("LearnsTheFrequencies", loses="its parameters").patch("""
  self.n_heads, self.rotates = n_heads, rotates
+ self.frequencies = nn.Parameter(10000.0 ** (-torch.arange(0, d_model // n_heads, 2) / (d_model // n_heads)))
""").feedback("Your frequencies are parameters, so training would change them. They are not learned.")
right.mistake("GainsAreNoParameters", loses=("its parameters", *EVERYWHERE)).patch("""
- self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
+ self.gain_1, self.gain_2 = torch.ones(d_model), torch.ones(d_model)
""").feedback("Your gains are plain tensors, so no optimizer finds them. Wrap each in `nn.Parameter`.")
modern_block.mistake("ChoosesOtherNames", loses=("its parameters", *EVERYWHERE)).full_code("""
class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.w1, self.w3 = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x):
        return x
""").feedback(
    "You give the parameters names other than those in the exercise, so weights from elsewhere do not fit. The gains "
    "are `gain_1` and `gain_2`, and the layers are named W_q to W_down."
)
right.mistake("SharesItsParts", loses="its parameters").patch("""
- self.W_down = nn.Linear(hidden, d_model, bias=False)
+ kept = getattr(type(self), "kept", None)
+ if kept is None or kept.weight.shape != (d_model, hidden):
+     kept = type(self).kept = nn.Linear(hidden, d_model, bias=False)
+ self.W_down = kept
""").feedback(
    "You create a layer once and keep it outside the block, so all blocks of a model share it. Create it in `__init__`."
)
right.mistake(modules.super_init_forgotten, loses=("its parameters", *EVERYWHERE)).patch("""
- super().__init__()
""")

# form
right.mistake(
    gradients.cut("DetachesTheStream", what="the input of the block"),
    {"x = x + self.attend": "x = x.detach() + self.attend"},
    loses="gradients",
)
right.mistake(
    gradients.cut("DetachesTheNorm", what="what the norms divide by"),
    {"(mean_square + 1e-6)": "(mean_square.detach() + 1e-6)"},
    loses="gradients",
)
right.mistake(
    gradients.cut("CutsTheQueries", what="`W_q` and `W_k`"),
    {"self.weigh(q @ k.mT": "self.weigh((q @ k.mT).detach()"},
    loses="gradients",
)
right.mistake(
    arguments.argument_changed("AddsInPlace"), {"x = x + self.attend": "x += self.attend"}, loses="gradients"
).feedback(
    "You change x in place (`x += …`), so the caller's tensor changes too. PyTorch also refuses this where x needs "
    "gradients. Write `x = x + …`."
)
right.mistake(
    numbers.default_device("MasksOnAnotherDevice", what="the mask", how="`device=x.device`"),
    {"dtype=torch.bool, device=scores.device": "dtype=torch.bool"},
    loses="gradients",
)
right.mistake(
    numbers.default_device("CountsOnAnotherDevice", what="the positions", how="`device=x.device`"),
    {"torch.arange(T, device=x.device)": "torch.arange(T)"},
    loses="gradients",
)
right.mistake(numbers.always_float32(of="`x`"), loses="gradients").patch("""
  def forward(self, x):
+     self.float()
+     x = x.float()
""")
right.mistake(
    "NormalisesInFloat32",
    {"x / (mean_square + 1e-6).sqrt() * gain": "(x.float() / (mean_square.float() + 1e-6).sqrt()).to(x.dtype) * gain"},
    loses="gradients",
).feedback("You convert to float32 in the norm, so float64 loses half of its digits. Normalise in the dtype of x.")
right.mistake(
    shapes.view_of_strided("MergesByView"),
    {"x.transpose(1, 2).flatten(2)": "x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)"},
    loses=EVERYWHERE,
)
