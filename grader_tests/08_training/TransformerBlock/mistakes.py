"""Known mistakes in `TransformerBlock`."""

from ...shared.families import arguments, calls, gradients, masks, modules, numbers, shapes
from .contract import transformer_block

PLAIN, PARAMETERS = "x plus", "its parameters"
EVERYWHERE = (PLAIN, "the mask")  # what an answer loses whose every result is wrong

right = transformer_block.reference_answer("""
class TransformerBlock(nn.Module):
    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.attention = attention
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def norm(self, x, gain):
        mean_square = x.square().mean(dim=-1, keepdim=True)
        return x / (mean_square + 1e-6).sqrt() * gain

    def attend(self, a, mask):
        output, weights = self.attention(a, mask=mask)
        return output

    def mlp(self, a):
        return self.W_down(F.silu(self.W_gate(a)) * self.W_up(a))

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm(x, self.gain_1), mask)
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
for name, made, text in (
    ("GainsStartAtZero", "zeros", "Your gains start at 0, so nothing reaches attention or the MLP at first."),
    ("GainsStartAtRandom", "randn", "Your gains start at random numbers."),
):
    right.mistake(
        name,
        {
            "= nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))": (
                f"= nn.Parameter(torch.{made}(d_model)), nn.Parameter(torch.{made}(d_model))"
            )
        },
        loses="gains",
        clause="gains",
    ).feedback(f"{text} They start at 1: make them with `torch.ones`.")
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
).feedback("You use `gain_1` twice. The MLP's norm has `gain_2`.")
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
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = self.norm(x + self.attend(x, mask), self.gain_1)
+ return self.norm(x + self.mlp(x), self.gain_2)
""").feedback(
    "You normalise after the additions (post-norm, as in the 2017 paper); this block normalises before them. "
    "Normalise what goes into attention and the MLP, and let x itself pass unchanged."
)
right.mistake("ForgetsTheFirstNorm", {"self.norm(x, self.gain_1)": "x"}, loses=EVERYWHERE).feedback(
    "You do not normalise what goes into attention."
)
right.mistake("ForgetsTheSecondNorm", {"self.norm(x, self.gain_2)": "x"}, loses=EVERYWHERE).feedback(
    "You do not normalise what goes into the MLP."
)
right.mistake("LosesTheFirstSum", {"x + self.attend": "self.attend"}, loses=EVERYWHERE).feedback(
    "You replace x with attention's result instead of adding the result to x."
)
right.mistake("LosesTheSecondSum", {"x + self.mlp": "self.mlp"}, loses=EVERYWHERE).feedback(
    "You return the MLP's result alone, without adding the x that went into its norm."
)
right.mistake(
    "LosesBothSums", {"x + self.attend": "self.attend", "x + self.mlp": "self.mlp"}, loses=EVERYWHERE
).feedback(
    "You leave out both sums: attention's result replaces x, and so does the MLP's. Add each to what went into its "
    "norm."
)
right.mistake("AddsAttentionToItself", {"x + self.attend(": "2 * self.attend("}, loses=EVERYWHERE).feedback(
    "You add attention's result to itself, and the x that came in is lost. Check that the name `x` is not reassigned "
    "before the sum."
)
right.mistake("AddsTheStreamTwice", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
+ a = self.norm(x, self.gain_1)
+ x = x + (a + self.attend(a, mask))
""").feedback(
    "You add what went into attention to its result, and then add x as well. One sum around each part is enough. "
    "Check what each part returns by itself."
)
right.mistake("AddsToTheNormalised", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
+ x = self.norm(x, self.gain_1)
+ x = x + self.attend(x, mask)
""").feedback(
    "You add attention's result to the normalised x. Add it to x as it came in: keep the normalised one under another "
    "name."
)
right.mistake("AddsToTheNormalisedSum", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = self.norm(x, self.gain_2)
+ return x + self.mlp(x)
""").feedback("You add the MLP's result to the normalised sum. Add it to the sum as it was before its norm.")
right.mistake("AddsBothToTheNormalised", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = self.norm(x, self.gain_1)
+ x = x + self.attend(x, mask)
+ x = self.norm(x, self.gain_2)
+ return x + self.mlp(x)
""").feedback(
    "You add the results to the normalised x instead of to x itself. Each norm is only on the way into attention or "
    "the MLP."
)
right.mistake("WorksSideBySide", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.attend(self.norm(x, self.gain_1), mask) + self.mlp(self.norm(x, self.gain_2))
""").feedback(
    "You start both attention and the MLP from the x that came in. The second works on the sum of x and attention's "
    "result."
)
right.mistake("NormalisesAttentionsResultAlone", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ attended = self.attend(self.norm(x, self.gain_1), mask)
+ return x + attended + self.mlp(self.norm(attended, self.gain_2))
""").feedback("Your second norm gets attention's result alone. Give it the sum: of x and attention's result.")
right.mistake("PutsTheMlpFirst", loses=EVERYWHERE).patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.attend(self.norm(x, self.gain_1), mask)
""").feedback("You apply the MLP before attention; attention comes first.")
right.mistake("NormalisesTheResult", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ x = x + self.mlp(self.norm(x, self.gain_2))
+ return self.norm(x, self.gain_2)
""").feedback("You normalise the result of the block once more. Return the last sum as it is.")
right.mistake("AddsThePair", loses=EVERYWHERE).patch("""
- output, weights = self.attention(a, mask=mask)
- return output
+ return self.attention(a, mask=mask)
""").feedback(
    "You add attention's pair (output, weights) to x, and a tuple cannot be added. Take the output alone.",
)
right.mistake("TakesTheWeights", loses=EVERYWHERE).patch("""
- return output
+ return weights
""").feedback("You take the second item that attention returns, its weights. Add the first, its output, to x.")
right.mistake("ReturnsTheWeightsToo", loses=EVERYWHERE).patch("""
- return x + self.mlp(self.norm(x, self.gain_2))
+ return x + self.mlp(self.norm(x, self.gain_2)), None
""").feedback("You return a pair. The next block takes what you return as its x: return the sum alone.")
right.mistake("AttendsThreeTimes", {"(a, mask=mask)": "(a, a, a, mask=mask)"}, loses=EVERYWHERE).feedback(
    "You pass x three times, as `nn.MultiheadAttention` wants it. Your attention makes queries, keys and values itself."
)

# the mask
right.mistake("LosesTheMask", {"(a, mask=mask)": "(a)"}, loses="the mask", clause="mask").feedback(
    "You do not pass the mask to attention, which takes it as `mask`."
)
right.mistake("PassesTheMaskByPosition", {"(a, mask=mask)": "(a, mask)"}, loses="the mask", clause="mask").feedback(
    "You pass the mask without its name, so attention takes it for its second argument. Write `mask=mask`."
)
right.mistake("PassesTheMaskByAnotherName", {"mask=mask)": "attn_mask=mask)"}, loses=EVERYWHERE).feedback(
    "You pass the mask as `attn_mask`, as `nn.MultiheadAttention` wants it. Here attention takes it as `mask`."
)
right.mistake("InvertsTheMask", {"mask=mask)": "mask=None if mask is None else ~mask)"}, loses="the mask").feedback(
    "You invert the mask, but True means “blocked” in attention too. Pass the mask on unchanged."
)
right.mistake(
    shapes.rows_and_columns_exchanged, {"mask=mask)": "mask=None if mask is None else mask.t())"}, loses="the mask"
)
right.mistake(
    masks.lost("LosesTheMaskInTrainingMode", when="in training mode"),
    {"mask=mask)": "mask=None if self.training else mask)"},
    loses="the mask",
)
right.mistake("IsAlwaysCausal", loses=PLAIN).patch("""
  def attend(self, a, mask):
+     T = a.shape[1]
+     mask = torch.ones(T, T, dtype=torch.bool, device=a.device).triu(1) if mask is None else mask
""").feedback("You apply a causal mask when no mask is given. Without a mask every word sees every other word.")
right.mistake("IsCausalInAddition", loses=EVERYWHERE).patch("""
  def attend(self, a, mask):
+     future = torch.ones(a.shape[1], a.shape[1], dtype=torch.bool, device=a.device).triu(1)
+     mask = future if mask is None else mask | future
""").feedback("You block the future whatever the mask is. Pass on the mask that you get, also if it is None.")
right.mistake("OpensTheDiagonal", loses="the mask", clause="mask").patch("""
  def attend(self, a, mask):
+     mask = None if mask is None else mask & ~torch.eye(len(mask), dtype=torch.bool, device=mask.device)
""").feedback("You let every word see itself, whatever the mask says. Where the mask is True, it blocks.")
right.mistake(calls.first_mask_kept("KeepsTheMask"), loses="each call", clause="calls").patch("""
- output, weights = self.attention(a, mask=mask)
+ self.mask = mask if mask is not None else getattr(self, "mask", None)
+ output, weights = self.attention(a, mask=self.mask)
""").feedback(
    "You keep the mask of an earlier call and reuse it when a later call has none. Each call has its own mask."
)
right.mistake(calls.first_mask_kept, loses="each call").patch("""
+ if mask is not None:
+     mask = self.mask = getattr(self, "mask", mask)
  output, weights = self.attention(a, mask=mask)
""")
right.mistake(calls.first_mask_kept("KeepsTheFirstMaskOfAShape"), loses="each call", clause="calls").patch("""
+ if mask is not None:
+     if getattr(self, "mask", mask).shape != mask.shape:
+         del self.mask
+     mask = self.mask = getattr(self, "mask", mask)
  output, weights = self.attention(a, mask=mask)
""").feedback("You keep a mask and reuse it for every later mask of the same shape. Each call has its own mask.")

# the gated layers
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
    "Nothing goes through silu in your MLP. The gate does, before the product."
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
).feedback("You leave out `W_gate`, so your MLP has no gate. Its silu multiplies the result of `W_up`.")
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
        "(nn.Linear(d_model, hidden,": "(nn.Linear(d_model, 4 * d_model,",
        "nn.Linear(hidden, d_model": "nn.Linear(4 * d_model, d_model",
    },
    loses=(PARAMETERS, *EVERYWHERE),
).feedback("You ignore `hidden` and widen to four times the width. The MLP has `hidden` entries.")

# the parameters
right.mistake("HasBiases", loses=PARAMETERS, clause="parameters").patch("""
- self.W_up, self.W_gate = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
- self.W_down = nn.Linear(hidden, d_model, bias=False)
+ self.W_up, self.W_gate = (nn.Linear(d_model, hidden) for _ in range(2))
+ self.W_down = nn.Linear(hidden, d_model)
""").feedback("Your MLP has biases. All layers of this block are made with `bias=False`.")
right.mistake(
    "MakesAnAttentionOfItsOwn",
    {"= attention\n": "= nn.MultiheadAttention(d_model, 1)\n"},
    loses=(PARAMETERS, *EVERYWHERE),
).feedback("You make an attention of your own. Keep the one that is given, as `self.attention`.")
right.mistake("HidesTheAttention", loses=(PARAMETERS, *EVERYWHERE)).patch("""
- self.attention = attention
+ self.parts = [attention]
@@
- output, weights = self.attention(a, mask=mask)
+ output, weights = self.parts[0](a, mask=mask)
""").feedback(
    "Your block does not have the parameters of attention: PyTorch does not look into a plain list. Keep the module "
    "itself, as `self.attention`."
)
right.mistake("GainsAreNoParameters", loses=(PARAMETERS, *EVERYWHERE)).patch("""
- self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
+ self.gain_1, self.gain_2 = torch.ones(d_model), torch.ones(d_model)
""").feedback("Your gains are plain tensors, so no optimizer finds them. Wrap each in `nn.Parameter`.")
transformer_block.mistake("ChoosesOtherNames", loses=(PARAMETERS, *EVERYWHERE)).full_code("""
class TransformerBlock(nn.Module):
    def __init__(self, attention, d_model, hidden):
        super().__init__()
        self.attention = attention
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.w1, self.w3 = (nn.Linear(d_model, hidden, bias=False) for _ in range(2))
        self.w2 = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x, mask=None):
        return x
""").feedback(
    "You give the parameters names other than those in the exercise, so weights from elsewhere do not fit. The gains "
    "are `gain_1` and `gain_2`, the layers `W_gate`, `W_up` and `W_down`."
)
right.mistake("SharesItsParts", loses=PARAMETERS, clause="parameters").patch("""
- self.W_down = nn.Linear(hidden, d_model, bias=False)
+ kept = getattr(type(self), "kept", None)
+ if kept is None or kept.weight.shape != (d_model, hidden):
+     kept = type(self).kept = nn.Linear(hidden, d_model, bias=False)
+ self.W_down = kept
""").feedback(
    "You create a layer once and keep it outside the block, so all blocks of a model share it. Create it in `__init__`."
)
right.mistake(modules.super_init_forgotten, loses=(PARAMETERS, *EVERYWHERE)).patch("""
- super().__init__()
""")

# form
right.mistake(
    gradients.cut("DetachesTheStream", what="the input of the block"),
    {"x = x + self.attend": "x = x.detach() + self.attend"},
    loses="gradients",
    clause="gradients",
)
right.mistake(
    gradients.cut("DetachesTheNorm", what="what the norms divide by"),
    {"(mean_square + 1e-6)": "(mean_square.detach() + 1e-6)"},
    loses="gradients",
)
right.mistake(gradients.cut("AttendsWithoutGradients", what="what attention returns"), loses="gradients").patch("""
- output, weights = self.attention(a, mask=mask)
- return output
+ with torch.no_grad():
+     return self.attention(a, mask=mask)[0]
""")
right.mistake(gradients.cut("LearnsInTrainingModeOnly"), loses="gradients").patch("""
- x = x + self.attend(self.norm(x, self.gain_1), mask)
- return x + self.mlp(self.norm(x, self.gain_2))
+ with torch.set_grad_enabled(self.training):
+     x = x + self.attend(self.norm(x, self.gain_1), mask)
+     return x + self.mlp(self.norm(x, self.gain_2))
""").feedback(
    "You compute gradients only in training mode. Whether there are gradients is up to the caller of the block, not "
    "to its mode."
)
right.mistake(
    arguments.argument_changed("AddsInPlace"), {"x = x + self.attend": "x += self.attend"}, loses="gradients"
).feedback(
    "You change x in place (`x += …`), so the caller's tensor changes too. PyTorch also refuses this where x needs "
    "gradients. Write `x = x + …`."
)
right.mistake(numbers.always_float32(of="`x`"), loses="gradients").patch("""
  def forward(self, x, mask=None):
+     self.float()
+     x = x.float()
""")
right.mistake(
    "NormalisesInFloat32",
    {"x / (mean_square + 1e-6).sqrt() * gain": "(x.float() / (mean_square.float() + 1e-6).sqrt()).to(x.dtype) * gain"},
    loses="gradients",
).feedback("You convert to float32 in the norm, so float64 loses half of its digits. Normalise in the dtype of x.")
right.mistake(shapes.view_of_strided("NormalisesByView"), loses="gradients").patch("""
- mean_square = x.square().mean(dim=-1, keepdim=True)
+ mean_square = x.view(-1, x.shape[-1]).square().mean(dim=-1).view(*x.shape[:-1], 1)
""")
