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
    "The norms stand behind the additions (post-norm, as in the paper of 2017). Here they stand in front: what goes "
    "into attention and mlp is normalised, and x itself goes on untouched."
)
right.mistake("UsesOneNormTwice", {"self.norm_2(x)": "self.norm_1(x)"}, loses="x plus").feedback(
    "norm_1 is used twice; the mlp has a norm of its own, norm_2."
)
right.mistake(
    "SwapsTheNorms", {"self.norm_1(x)": "self.norm_2(x)", "self.norm_2(x)": "self.norm_1(x)"}, loses="x plus"
).feedback("The two norms have changed places: norm_1 belongs to attention.")
right.mistake("LosesTheFirstSum", {"x + self.attend": "self.attend"}, loses="x plus").feedback(
    "Attention's result replaces x. It is added to it."
)
right.mistake("LosesTheSecondSum", {"x + self.mlp": "self.mlp"}, loses="x plus").feedback(
    "The mlp's result is returned alone. What went into norm_2 is added to it."
)
right.mistake("AddsAttentionToItself", {"x + self.attend(": "2 * self.attend("}, loses="x plus").feedback(
    "Attention's result is added to itself, and the x that came in is lost: the name `x` was given away before the sum."
)
right.mistake("AddsToTheNormalised", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ x = self.norm_1(x)
+ x = x + self.attend(x, mask)
+ x = self.norm_2(x)
+ return x + self.mlp(x)
""").feedback("You add to the normalised x. The sum is of x as it came: the norm is on the way into attention only.")
right.mistake("ForgetsTheSecondNorm", {"self.norm_2(x)": "x"}, loses="x plus").feedback(
    "What goes into the mlp is not normalised."
)
right.mistake("ForgetsTheFirstNorm", {"self.norm_1(x)": "x"}, loses="x plus").feedback(
    "What goes into attention is not normalised."
)
right.mistake("NormalisesTheQueriesOnly", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ a = self.norm_1(x)
+ x = x + self.attention(a, x, x, attn_mask=mask, need_weights=False)[0]
""").feedback("Only the queries are normalised; keys and values are x as it came. All three are the normalised x.")
right.mistake("WorksSideBySide", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ return x + self.attend(self.norm_1(x), mask) + self.mlp(self.norm_2(x))
""").feedback("Attention and mlp both start from the x that came in. The mlp works on the sum of x and attention.")
right.mistake("PutsTheMlpFirst", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ x = x + self.mlp(self.norm_2(x))
+ return x + self.attend(self.norm_1(x), mask)
""").feedback("The mlp comes before attention. Attention is first.")
right.mistake("MixesTheBatch", {"True": "False"}, loses=EVERYWHERE).feedback(
    "Attention takes the first dimension for the words and mixes the sentences of the batch: batch_first=True is "
    "missing."
)
right.mistake("ReturnsThePair", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ a = self.norm_1(x)
+ attended, weights = self.attention(a, a, a, attn_mask=mask)
+ x = x + attended
+ return x + self.mlp(self.norm_2(x)), weights
""").feedback(
    "You return attention's pair (output, weights), or add it. nn.MultiheadAttention returns two things; take the "
    "first."
)
right.mistake("LosesTheMask", {"attn_mask=mask, need_weights": "need_weights"}, loses="the mask").feedback(
    "The mask never reaches attention: pass it on as attn_mask."
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
    "The mask is inverted. nn.MultiheadAttention, too, means “blocked” by True, so it can be passed on as it is."
)
right.mistake("PromisesACausalMask", loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ causal = mask is not None
+ return self.attention(a, a, a, attn_mask=mask, is_causal=causal, need_weights=False)[0]
""").feedback(
    "`is_causal=True` is a promise to PyTorch that the mask is the causal one, and it may then ignore the mask. Yours "
    "can be any mask: pass it as attn_mask, without the promise."
)
right.mistake(calls.first_mask_kept("KeepsTheMask"), loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ self.mask = mask if mask is not None else getattr(self, "mask", None)
+ return self.attention(a, a, a, attn_mask=self.mask, need_weights=False)[0]
""").feedback("A mask of an earlier call is kept and used again where none is given. Each call has its own.")
right.mistake(shapes.rows_and_columns_exchanged, {"mask,": "None if mask is None else mask.t(),"}, loses="the mask")
right.mistake("AddsTheMask", {"mask,": "None if mask is None else mask.to(a.dtype),"}, loses="the mask").feedback(
    "The mask is made a tensor of 0 and 1 and added to the scores. A mask of numbers is added; a boolean one blocks."
)
right.mistake("IsAlwaysCausal", loses=("x plus", "the mask")).patch("""
  def attend(self, a, mask):
+     T = a.shape[1]
+     mask = torch.ones(T, T, dtype=torch.bool, device=a.device).triu(1) if mask is None else mask
""").feedback("A causal mask is put in where none was given. Without a mask every word sees every other.")
right.mistake("BendsWithRelu", {"nn.GELU": "nn.ReLU"}, loses=EVERYWHERE).feedback(
    "The mlp bends with ReLU; it should be GELU."
)
right.mistake("ApproximatesGelu", {"nn.GELU()": 'nn.GELU(approximate="tanh")'}, loses="x plus").feedback(
    "The mlp uses GELU's approximation by tanh. nn.GELU() without arguments is the exact one."
)
right.mistake("DoesNotBend", {"nn.GELU": "nn.Identity"}, loses=EVERYWHERE).feedback(
    "The mlp does not bend at all: two linear layers in a row are one."
)
right.mistake("WidensTooLittle", {"4": "2"}, loses=EVERYWHERE).feedback(
    "The hidden layer of the mlp has the wrong width: it is 4 times d_model."
)
right.mistake("HasBiases", {"False,": "True,"}, loses="its parts").feedback(
    "Attention has biases. bias=False is asked for."
)
right.mistake("DropsTheOutputToo", loses="dropout", when="what attention gives is dropped").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = x + self.drop(self.attend(self.norm_1(x), mask))
""").feedback(
    "Dropout falls on what attention puts out as well. Here it falls on attention's weights, and nowhere else."
)
right.mistake("DropsTheMlpToo", loses="dropout", when="what the mlp gives is dropped").patch("""
- return x + self.mlp(self.norm_2(x))
+ return x + self.drop(self.mlp(self.norm_2(x)))
""").feedback("Dropout falls on what the mlp puts out as well. Here it falls on attention's weights, and nowhere else.")
right.mistake("DropsTheHiddenLayer", loses="dropout", when="something in the mlp is dropped").patch("""
- return x + self.mlp(self.norm_2(x))
+ return x + self.mlp[2](self.drop(self.mlp[1](self.mlp[0](self.norm_2(x)))))
""").feedback(
    "Dropout falls on the hidden layer of the mlp as well. Here it falls on attention's weights, and nowhere else."
)
right.mistake(
    "HasAnotherDefault", {"dropout=0.0": "dropout=0.1"}, loses=("x plus", "the mask", "gradients"), when="drops unasked"
).feedback("Where no dropout is asked for, there is none: its default is 0.")
right.mistake("DropsInEvalModeToo", loses="dropout", when="eval mode drops, too").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ was = self.attention.training
+ mixed = self.attention.train()(a, a, a, attn_mask=mask, need_weights=False)[0]
+ self.attention.train(was)
+ return mixed
""").feedback("Attention drops weights in eval mode too. The module knows its mode; leave dropout to it.")
right.mistake(
    gradients.cut("DetachesTheStream", what="what came before the block"), {"= x": "= x.detach()"}, loses="gradients"
)
right.mistake(
    "ForgetsTheDropout", {"dropout, bias": "0.0, bias", "(dropout)": "(0.0)"}, loses=("its parts", "dropout")
).feedback("`dropout` is taken and never handed to attention.")
right.mistake(arguments.argument_changed("AddsInPlace"), {"= x +": "+="}, loses="gradients").feedback(
    "x is changed in place (`x += …`): the caller's tensor changes with it, and PyTorch refuses where it needs "
    "gradients. Write `x = x + …`."
)
right.mistake(gradients.cut("AttendsWithoutGradients", what="what came before the block"), loses="gradients").patch("""
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
    "The parts have other names than the text gives them, so that nobody else's weights fit: norm_1, norm_2, "
    "attention, mlp."
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
    "The layers are made once and kept outside of the block, so that all blocks of a model share them. Make them in "
    "`__init__`."
)
right.mistake("InvertsTheMaskAndKeepsTheWeights", loses="the mask").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ return self.attention(a, a, a, attn_mask=None if mask is None else ~mask)[0]
""").feedback(
    "The mask is inverted. nn.MultiheadAttention, too, means “blocked” by True, so it can be passed on as it is. A row "
    "that is then blocked throughout is NaN."
)
right.mistake("KeepsTheNormalisedOnce", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = self.norm_1(x)
+ x = x + self.attend(x, mask)
""").feedback(
    "You add attention's result to the normalised x. The sum is of x as it came: keep the normalised one under another "
    "name."
)
right.mistake("KeepsTheNormalisedSum", loses="x plus").patch("""
- return x + self.mlp(self.norm_2(x))
+ x = self.norm_2(x)
+ return x + self.mlp(x)
""").feedback("You add the mlp's result to the normalised sum. It is added to the sum as it was before norm_2.")
right.mistake("TakesRawValues", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ a = self.norm_1(x)
+ x = x + self.attention(a, a, x, attn_mask=mask, need_weights=False)[0]
""").feedback("Attention's values are x as it came. Queries, keys and values are all three the normalised x.")
right.mistake("NormalisesTheResult", loses="x plus").patch("""
- return x + self.mlp(self.norm_2(x))
+ x = x + self.mlp(self.norm_2(x))
+ return self.norm_2(x)
""").feedback("What leaves the block is normalised once more. Its sum goes out as it is.")
right.mistake("BendsBySilu", {"nn.GELU": "nn.SiLU"}, loses=EVERYWHERE).feedback(
    "The mlp bends with SiLU; it should be GELU."
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
""").feedback("A mask is kept and used again for every later one of its shape. Each call has a mask of its own.")
right.mistake("OpensTheDiagonal", loses="the mask").patch("""
  def attend(self, a, mask):
+     mask = None if mask is None else mask & ~torch.eye(len(mask), dtype=torch.bool, device=mask.device)
""").feedback("You let every word see itself, whatever the mask says. Where it is True, it blocks.")
right.mistake("AddsAFloat32Mask", loses="gradients").patch("""
- return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
+ if mask is not None:
+     mask = torch.zeros(mask.shape, device=a.device).masked_fill(mask, -torch.inf)
+ return self.attention(a, a, a, attn_mask=mask)[0]
""").feedback(
    "The mask becomes numbers in float32, which do not go with float64. nn.MultiheadAttention takes it as it is."
)
right.mistake(gradients.cut("LearnsInTrainingModeOnly"), loses="gradients").patch("""
- x = x + self.attend(self.norm_1(x), mask)
- return x + self.mlp(self.norm_2(x))
+ with torch.set_grad_enabled(self.training):
+     x = x + self.attend(self.norm_1(x), mask)
+     return x + self.mlp(self.norm_2(x))
""").feedback(
    "In eval mode no gradient passes. Whether there are gradients is up to whoever calls the block, not to its mode."
)
right.mistake("SharesTheDropout", loses="dropout", when="drops unasked").patch("""
  self.drop = nn.Dropout(dropout)
+ type(self).dropout = dropout
@@
+ self.attention.dropout = self.dropout
  return self.attention(a, a, a, attn_mask=mask, need_weights=False)[0]
""").feedback(
    "The dropout is kept where all blocks of the class share it: a second one changes that of the first. Keep it in "
    "`self`."
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
""").feedback("`dropout` is the probability of being dropped, and you keep with that probability.")
right.mistake(modules.super_init_forgotten, loses=("its parts", "x plus")).patch("""
- super().__init__()
""")
right.mistake("AddsTheStreamTwice", loses="x plus").patch("""
- x = x + self.attend(self.norm_1(x), mask)
+ x = x + (self.norm_1(x) + self.attend(self.norm_1(x), mask))
""").feedback(
    "Attention's own result has what went into it added already, and then x is added as well. One sum round each part "
    "is enough: what does each part give by itself?"
)
right.mistake("LosesBothSums", {"x + self.attend": "self.attend", "x + self.mlp": "self.mlp"}, loses="x plus").feedback(
    "Neither sum is there: attention's result replaces x, and so does the mlp's. Each is added to what went into its "
    "norm."
)
