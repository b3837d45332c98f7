"""Known mistakes in `TransformerBlock`."""

from ...shared.families import arguments, calls, gradients, masks, modules, numbers, shapes
from .contract import transformer_block

EVERYWHERE = ("its parts", "x plus")  # what an answer loses whose every result is wrong

right = transformer_block.reference_answer("""
class TransformerBlock(nn.Module):
    bias, batch_first, widening = False, True, 4

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(
            d_model, n_heads, dropout=dropout, bias=self.bias, batch_first=self.batch_first
        )
        wide = self.widening * d_model
        self.mlp = nn.Sequential(nn.Linear(d_model, wide), self.bend(), nn.Linear(wide, d_model))
        self.drop = nn.Dropout(dropout)

    def bend(self):
        return nn.GELU()

    def attend(self, a, mask):
        return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm_1(x), mask)
        return x + self.mlp(self.norm_2(x))
""")

right.mistake("NormalisesAfterwards", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ x = self.norm_1(x + self.attend(x, mask))
+ return self.norm_2(x + self.mlp(x))
""").feedback(
    "You normalise after the additions (post-norm, as in the 2017 paper); this block normalises before them. "
    "Normalise what goes into attention and the mlp, and let x itself pass unchanged."
)
right.mistake("UsesOneNormTwice", {"self.norm_2(x)": "self.norm_1(x)"}, loses="x plus").feedback(
    "You use norm_1 twice. The mlp has its own norm, norm_2."
)
right.mistake(
    "SwapsTheNorms", {"self.norm_1(x)": "self.norm_2(x)", "self.norm_2(x)": "self.norm_1(x)"}, loses="x plus"
).feedback("You have swapped the two norms: norm_1 belongs to attention.")
right.mistake("LosesTheFirstSum", {"x + self.attend": "self.attend"}, loses="x plus").feedback(
    "You replace x with attention's result instead of adding the result to x."
)
right.mistake("LosesTheSecondSum", {"x + self.mlp": "self.mlp"}, loses="x plus").feedback(
    "You return the mlp's result alone, without adding what went into norm_2."
)
right.mistake("AddsAttentionToItself", {"x + self.attend(": "2 * self.attend("}, loses="x plus").feedback(
    "You add attention's result to itself, and the x that came in is lost. Check that the name `x` is not reassigned "
    "before the sum."
)
right.mistake("AddsToTheNormalised", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ x = self.norm_1(x)
+ x = x + self.attend(x, mask)
+ x = self.norm_2(x)
+ return x + self.mlp(x)
""").feedback(
    "You add the results to the normalised x instead of to x itself. Each norm is only on the way into attention or "
    "the mlp."
)
right.mistake("ForgetsTheSecondNorm", {"self.norm_2(x)": "x"}, loses="x plus").feedback(
    "You do not normalise what goes into the mlp."
)
right.mistake("ForgetsTheFirstNorm", {"self.norm_1(x)": "x"}, loses="x plus").feedback(
    "You do not normalise what goes into attention."
)
right.mistake("NormalisesTheQueriesOnly", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ a = self.norm_1(x)
+ x = x + self.attention(a, x, x, attn_mask=mask, need_weights=False)[0]
""").feedback(
    "You normalise only the queries; your keys and values are the unchanged x. All three should be the normalised x."
)
right.mistake("WorksSideBySide", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ return x + self.attend(self.norm_1(x), mask) + self.mlp(self.norm_2(x))
""").feedback(
    "You start both attention and the mlp from the x that came in. The mlp works on the sum of x and attention's "
    "result."
)
right.mistake("PutsTheMlpFirst", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ x = x + self.mlp(self.norm_2(x))
+ return x + self.attend(self.norm_1(x), mask)
""").feedback("You apply the mlp before attention; attention comes first.")
right.mistake("MixesTheBatch", {"True": "False"}, loses=EVERYWHERE).feedback(
    "You leave out batch_first=True, so attention mixes the sentences of the batch. It takes the first dimension for "
    "the words."
)
right.mistake("ReturnsThePair", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ a = self.norm_1(x)
+ attended, weights = self.attention(a, a, a, attn_mask=mask)
+ x = x + attended
+ return x + self.mlp(self.norm_2(x)), weights
""").feedback(
    "You return or add attention's whole pair (output, weights) instead of its output. nn.MultiheadAttention returns "
    "two things; take the first."
)
right.mistake("AddsThePair", loses=("x plus", "the mask")).patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ return self.attention(a, a, a, attn_mask=mask, need_weights=False)
""").feedback(
    "You add attention's whole pair (output, weights) to x, and a tuple cannot be added to a tensor. "
    "nn.MultiheadAttention returns two things; take the first."
)
right.mistake(
    "PassesTheMaskByAnotherName",
    {"attn_mask=mask, need_weights": "mask=mask, need_weights"},
    loses=("x plus", "the mask"),
).feedback("You pass the mask as `mask`, a name that nn.MultiheadAttention does not have. It takes it as `attn_mask`.")
right.mistake(
    "PassesTheMaskAsPadding", {"attn_mask=mask, need_weights": "key_padding_mask=mask, need_weights"}, loses="the mask"
).feedback(
    "You pass the mask as `key_padding_mask`, which says for each sentence which tokens are padding, (B, S). Your mask "
    "is about positions, (T, T): `attn_mask`."
)
right.mistake("LosesTheMask", {"attn_mask=mask, need_weights": "need_weights"}, loses="the mask").feedback(
    "You do not pass the mask to attention, which takes it as attn_mask."
)
for when, about in (
    ("in training mode", "self.training"),
    ("with dropout", "self.drop.p"),
    ("in training with dropout", "self.training and self.drop.p"),
    ("with one head", "self.attention.num_heads == 1"),
):
    right.mistake(
        masks.lost(f"LosesTheMask{when.title().replace(' ', '')}", when=when),
        {"attn_mask=mask": f"attn_mask=None if {about} else mask"},
        loses="the mask",
        when="a word sees the next ones" if when == "in training with dropout" else "",
    )
right.mistake("InvertsTheMask", {"mask,": "None if mask is None else ~mask,"}, loses="the mask").feedback(
    "You invert the mask, but True means “blocked” in nn.MultiheadAttention too. Pass the mask on unchanged."
)
right.mistake("PromisesACausalMask", loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ causal = mask is not None
+ return self.attention(a, a, a, attn_mask=mask, is_causal=causal, need_weights=False)[0]
""").feedback(
    "You set `is_causal=True`, which promises PyTorch that the mask is causal. PyTorch may then ignore the mask, but "
    "yours can be any mask. Pass it as attn_mask, without the promise."
)
right.mistake(calls.first_mask_kept("KeepsTheMask"), loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ self.mask = mask if mask is not None else getattr(self, "mask", None)
+ return self.attention(a, a, a, attn_mask=self.mask, need_weights=False)[0]
""").feedback(
    "You keep the mask of an earlier call and reuse it when a later call has none. Each call has its own mask."
)
right.mistake(shapes.rows_and_columns_exchanged, {"mask,": "None if mask is None else mask.t(),"}, loses="the mask")
right.mistake("AddsTheMask", {"mask,": "None if mask is None else mask.to(a.dtype),"}, loses="the mask").feedback(
    "You turn the mask into a tensor of 0 and 1, which is then added to the scores. A mask of numbers is added; a "
    "boolean mask blocks."
)
right.mistake("IsAlwaysCausal", loses=("x plus", "the mask")).patch("""
  def attend(self, a, mask):
+     T = a.shape[1]
+     mask = torch.ones(T, T, dtype=torch.bool, device=a.device).triu(1) if mask is None else mask
""").feedback("You apply a causal mask when no mask is given. Without a mask every word sees every other word.")
right.mistake("BendsWithRelu", {"nn.GELU": "nn.ReLU"}, loses=EVERYWHERE).feedback(
    "You use ReLU in the mlp; it should be GELU."
)
right.mistake("ApproximatesGelu", {"nn.GELU()": 'nn.GELU(approximate="tanh")'}, loses="x plus").feedback(
    "You use the tanh approximation of GELU in the mlp. `nn.GELU()` without arguments is the exact one."
)
right.mistake("DoesNotBend", {"nn.GELU": "nn.Identity"}, loses=EVERYWHERE).feedback(
    "Your mlp has no activation function, so its two linear layers amount to one."
)
right.mistake("WidensTooLittle", {"4": "2"}, loses=EVERYWHERE).feedback(
    "You give the mlp's hidden layer the wrong width: it should be 4 times d_model."
)
right.mistake("HasBiases", {"False,": "True,"}, loses="its parts").feedback(
    "You give attention biases; the exercise asks for bias=False."
)
right.mistake("DropsTheOutputToo", loses="dropout", when="what attention gives is dropped").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = x + self.drop(self.attend(self.norm_1(x), mask))
""").feedback("You also apply dropout to the output of attention. Here only the attention weights are dropped.")
right.mistake("DropsTheMlpToo", loses="dropout", when="what the mlp gives is dropped").patch("""
- return x + self.mlp(self.norm_2(x))
+ return x + self.drop(self.mlp(self.norm_2(x)))
""").feedback("You also apply dropout to the output of the mlp. Here only the attention weights are dropped.")
right.mistake("DropsTheHiddenLayer", loses="dropout", when="something in the mlp is dropped").patch("""
- return x + self.mlp(self.norm_2(x))
+ return x + self.mlp[2](self.drop(self.mlp[1](self.mlp[0](self.norm_2(x)))))
""").feedback(
    "You also apply dropout inside the mlp, to its hidden layer. Here only the attention weights are dropped."
)
right.mistake(
    "HasAnotherDefault", {"dropout=0.0": "dropout=0.1"}, loses=("x plus", "the mask", "gradients"), when="drops unasked"
).feedback("You apply dropout when none is asked for: the default of `dropout` should be 0.")
right.mistake("DropsInEvalModeToo", loses="dropout", when="eval mode drops, too").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ was = self.attention.training
+ mixed = self.attention.train()(a, a, a, attn_mask=mask, need_weights=False)[0]
+ self.attention.train(was)
+ return mixed
""").feedback("You drop attention weights in eval mode too. The module knows its mode; leave dropout to it.")
right.mistake(
    gradients.cut("DetachesTheStream", what="the input of the block"), {"= x": "= x.detach()"}, loses="gradients"
)
right.mistake(
    "ForgetsTheDropout", {"dropout, bias": "0.0, bias", "(dropout)": "(0.0)"}, loses=("its parts", "dropout")
).feedback("You accept `dropout` but never pass it to attention.")
right.mistake(arguments.argument_changed("AddsInPlace"), {"= x +": "+="}, loses="gradients").feedback(
    "You change x in place (`x += …`), so the caller's tensor changes too. PyTorch also refuses this where x needs "
    "gradients. Write `x = x + …`."
)
right.mistake(gradients.cut("AttendsWithoutGradients", what="the input of the block"), loses="gradients").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ with torch.no_grad():
+     return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""")
transformer_block.mistake("ChoosesOtherNames", loses=("its parts", "x plus", "the mask")).full_code("""
class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        a = self.ln1(x)
        x = x + self.attn(a, a, a, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))
""").feedback(
    "You give the parts names other than those in the exercise, so weights from elsewhere do not fit. The names are "
    "norm_1, norm_2, attention and mlp."
)
right.mistake("SharesItsParts", loses="its parts").patch("""
  bias, batch_first, widening = False, True, 4
+ kept = None
@@
- self.mlp = nn.Sequential(nn.Linear(d_model, wide), self.bend(), nn.Linear(wide, d_model))
+ if self.kept is None or self.kept[0].in_features != d_model:
+     type(self).kept = nn.Sequential(nn.Linear(d_model, wide), self.bend(), nn.Linear(wide, d_model))
+ self.mlp = self.kept
""").feedback(
    "You create the layers once and keep them outside the block, so all blocks of a model share them. Create them in "
    "`__init__`."
)
right.mistake("InvertsTheMaskAndKeepsTheWeights", loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ return self.attention(a, a, a, attn_mask=None if mask is None else ~mask)[0]
""").feedback(
    "You invert the mask, but True means “blocked” in nn.MultiheadAttention too. Pass the mask on unchanged. A row "
    "that is fully blocked after the inversion becomes NaN."
)
right.mistake("KeepsTheNormalisedOnce", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = self.norm_1(x)
+ x = x + self.attend(x, mask)
""").feedback(
    "You add attention's result to the normalised x. Add it to x as it came in: keep the normalised x under another "
    "name."
)
right.mistake("KeepsTheNormalisedSum", loses="x plus").patch("""
- return x + self.mlp(self.norm_2(x))
+ x = self.norm_2(x)
+ return x + self.mlp(x)
""").feedback("You add the mlp's result to the normalised sum. Add it to the sum as it was before norm_2.")
right.mistake("TakesRawValues", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ a = self.norm_1(x)
+ x = x + self.attention(a, a, x, attn_mask=mask, need_weights=False)[0]
""").feedback(
    "You give attention the unchanged x as its values. Queries, keys and values should all be the normalised x."
)
right.mistake("NormalisesTheResult", loses="x plus").patch("""
- return x + self.mlp(self.norm_2(x))
+ x = x + self.mlp(self.norm_2(x))
+ return self.norm_2(x)
""").feedback("You normalise the result of the block once more. Return the last sum as it is.")
right.mistake("BendsBySilu", {"nn.GELU": "nn.SiLU"}, loses=EVERYWHERE).feedback(
    "You use SiLU in the mlp; it should be GELU."
)
right.mistake(calls.first_mask_kept, loses="the mask").patch("""
+ if mask is not None:
+     mask = self.mask = getattr(self, "mask", mask)
  return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""")
right.mistake(calls.first_mask_kept("KeepsTheFirstMaskOfAShape"), loses="the mask").patch("""
+ if mask is not None:
+     if getattr(self, "mask", mask).shape != mask.shape:
+         del self.mask
+     mask = self.mask = getattr(self, "mask", mask)
  return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""").feedback("You keep a mask and reuse it for every later mask of the same shape. Each call has its own mask.")
right.mistake("OpensTheDiagonal", loses="the mask").patch("""
  def attend(self, a, mask):
+     mask = None if mask is None else mask & ~torch.eye(len(mask), dtype=torch.bool, device=mask.device)
""").feedback("You let every word see itself, whatever the mask says. Where the mask is True, it blocks.")
right.mistake("AddsAFloat32Mask", loses="gradients").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ if mask is not None:
+     mask = torch.zeros(mask.shape, device=a.device).masked_fill(mask, -torch.inf)
+ return self.attention(a, a, a, attn_mask=mask)[0]
""").feedback(
    "You turn the mask into float32 numbers, which do not work with float64. nn.MultiheadAttention takes the boolean "
    "mask as it is."
)
right.mistake(gradients.cut("LearnsInTrainingModeOnly"), loses="gradients").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ with torch.set_grad_enabled(self.training):
+     x = x + self.attend(self.norm_1(x), mask)
+     return x + self.mlp(self.norm_2(x))
""").feedback(
    "You compute gradients only in training mode. Whether there are gradients is up to the caller of the block, not "
    "to its mode."
)
right.mistake("SharesTheDropout", loses="dropout", when="drops unasked").patch("""
  self.drop = nn.Dropout(dropout)
+ type(self).dropout = dropout
@@
+ self.attention.dropout = self.dropout
  return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""").feedback(
    "You store the dropout where all blocks of the class share it, so a second block changes that of the first. "
    "Store it in `self`."
)
right.mistake(numbers.always_float32(of="`x`"), loses="gradients").patch("""
+ self.float()
+ x = x.float()
  x = x + self.attend(self.norm_1(x), mask)
""")
right.mistake(numbers.default_device(what="a mask of numbers", how="`device=x.device`"), loses="gradients").patch("""
+ if mask is not None:
+     mask = torch.zeros(mask.shape, dtype=a.dtype).masked_fill(mask, -torch.inf)
  return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""")
right.mistake(
    modules.dropped_always, {"dropout, bias": "P, bias"}, loses="dropout", when="another share is dropped"
).for_each(P=(0.5, 0.1, 0.2))
right.mistake("TakesDropoutForTheShareKept", loses="dropout", when="what was to be kept is dropped").patch("""
- d_model, n_heads, dropout=dropout, bias=self.bias, batch_first=self.batch_first
+ d_model, n_heads, dropout=1 - dropout, bias=self.bias, batch_first=self.batch_first
""").feedback("You keep entries with probability `dropout`, but it is the probability of dropping them.")
right.mistake(modules.super_init_forgotten, loses=("its parts", "x plus")).patch("""
- super().__init__()
""")
right.mistake("AddsTheStreamTwice", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = x + (self.norm_1(x) + self.attend(self.norm_1(x), mask))
""").feedback(
    "You add what went into attention to its result, and then add x as well. One sum around each part is enough. "
    "Check what each part returns by itself."
)
right.mistake("LosesBothSums", {"x + self.attend": "self.attend", "x + self.mlp": "self.mlp"}, loses="x plus").feedback(
    "You leave out both sums: attention's result replaces x, and so does the mlp's. Add each to what went into its "
    "norm."
)
