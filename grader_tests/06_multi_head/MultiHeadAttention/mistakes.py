"""Known mistakes in `MultiHeadAttention`."""

from ...shared.families import calls, gradients, masks, modules, results, scores
from ...shared.heads import STEPS, add_mistakes
from ..common import LEVELS, SPLITTING
from .contract import mha

EVERYWHERE = ("self-attention", "cross-attention")  # what an answer loses whose every result is wrong

right = mha.reference_answer(
    """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        self.n_heads, self.p = n_heads, dropout
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def project(self, x, context):
        return self.W_q(x), self.W_k(context), self.W_v(context)

    def drop(self, weights):
        return F.dropout(weights, self.p, self.training)

    def forward(self, x, context=None, mask=None):
        query, key, value = map(self.split, self.project(x, x if context is None else context))
        weights = self.drop(self.weigh(self.score(query, key), mask))
        output = self.merge(weights @ value)
        return self.W_o(output), weights
"""
    + STEPS
)

add_mistakes(right, EVERYWHERE, cutting=SPLITTING, maps=LEVELS)
right.mistake(scores.scaled_by_model_width, {"query.shape[-1]": "(query.shape[-1] * self.n_heads)"}, loses=EVERYWHERE)
right.mistake(scores.multiplied_by_root, {"key.mT / query": "key.mT * query"}, loses=EVERYWHERE)
right.mistake("ScalesByTheNumberOfHeads", {"query.shape[-1]": "self.n_heads"}, loses=EVERYWHERE).feedback(
    "You divide the scores by the square root of the number of heads. Only the width of one head counts."
)
right.mistake(scores.scaled_by_number_of_keys, {"query.shape[-1]": "key.shape[-2]"}, loses=EVERYWHERE)
right.mistake("CutsAndMergesBetweenWords", loses=EVERYWHERE).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.reshape(len(x), self.n_heads, x.shape[1], -1)
@@
- return x.transpose(1, 2).flatten(2)
+ return x.reshape(len(x), x.shape[2], -1)
""").feedback(
    "You cut the heads by `reshape` alone, so each head sees only a few whole words. You merge them in the same "
    "way, so every number returns to its place.",
    see=SPLITTING,
)
right.mistake("DealsTheColumnsOutInTurn", loses=EVERYWHERE).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
@@
- return x.transpose(1, 2).flatten(2)
+ return x.permute(0, 2, 3, 1).flatten(2)
""").feedback(
    "Your heads take the columns in turn: head 0 gets the columns 0, H, 2H and so on. Each head owns one band of "
    "columns.",
    see="One matrix for all heads",
)
right.mistake(
    "ForgetsTheSoftmax", {"scores.masked_fill(blocked, -torch.inf).softmax(-1)": "scores"}, loses=EVERYWHERE
).feedback("You leave out the softmax, so the scores themselves multiply the values.")
right.mistake("IgnoresTheContext", {"x if context is None else context": "x"}, loses="cross-attention").feedback(
    "`context` changes nothing in your module. If it is given, keys and values come from it."
)
right.mistake("CutsTheContextAsLongAsX", loses="cross-").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ B, T, D = x.shape
+ key, value = (layer(context).view(B, T, self.n_heads, K) for layer in (self.W_k, self.W_v))
+ return self.W_q(x), key.flatten(2), value.flatten(2)
""").for_each(K=("D // self.n_heads", "-1")).feedback(
    "You cut keys and values as if the context were as long as x. The context has its own length, S: take it from "
    "the context's shape."
)
right.mistake("AsksFromTheContext", {"self.W_q(x)": "self.W_q(context)"}, loses="cross-attention").feedback(
    "Your queries come from the context. Queries always come from x, because x asks."
)
right.mistake("ExchangesTheRoles", loses="cross-attention").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ return self.W_q(context), self.W_k(x), self.W_v(x)
""").feedback(
    "You exchange the roles of x and context. Queries come from x, which asks. Keys and values come from context, "
    "which answers."
)
right.mistake(
    "ExchangesKeysAndValues", {"self.W_k(context), self.W_v": "self.W_v(context), self.W_k"}, loses=EVERYWHERE
).feedback("You exchange W_k and W_v: your keys are made with W_v and your values with W_k.")
right.mistake("TakesTheMaskBeforeTheContext", {"context=None, mask": "mask=None, context"}, loses="cross-").feedback(
    "Your `forward` takes the mask before the context. A call that passes them by position then exchanges them. "
    "The order is x, context, mask."
)
right.mistake("TakesValuesFromX", {"self.W_v(context)": "self.W_v(x)"}, loses="cross-attention").feedback(
    "Your values come from x even if a context is given. Keys and values come from the context."
)
right.mistake("TakesValuesFromXOfTheSameLength", loses="cross-attention", clause="context").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ source = x if context.shape == x.shape else context
+ return self.W_q(x), self.W_k(context), self.W_v(source)
""").feedback(
    "Your values come from x if the context has as many words as x. Keys and values come from the context, however "
    "long it is."
)
right.mistake("ForgetsTheContextOfTheSameLength", loses="cross-attention", clause="context").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ source = x if context.shape == x.shape else context
+ return self.W_q(x), self.W_k(source), self.W_v(source)
""").feedback(
    "You use the context only if it is longer or shorter than x. If it is given, keys and values come from it, however "
    "long it is."
)
right.mistake("TakesKeysFromX", {"self.W_k(context)": "self.W_k(x)"}, loses="cross-attention").feedback(
    "Your keys come from x even if a context is given. Keys and values come from the context."
)
right.mistake("RemembersTheContext", loses="self-attention", clause="call").patch("""
  def forward(self, x, context=None, mask=None):
+     if context is not None:
+         self.kept = context
+     context = getattr(self, "kept", None)
""").feedback(
    "You keep a context or a mask from one call and use it in later calls. Each call is independent: without a "
    "context, keys and values come from x; without a mask, nothing is blocked."
)
right.mistake("ProjectsValuesWithTheKeysMatrix", {"self.W_v(context)": "self.W_k(context)"}, loses=EVERYWHERE).feedback(
    "You make the values with W_k. They have their own matrix, W_v."
)
right.mistake(
    "ProjectsKeysWithTheQueriesMatrix", {"self.W_k(context)": "self.W_q(context)"}, loses=EVERYWHERE
).feedback("You make the keys with W_q. They have their own matrix, W_k.")
right.mistake(
    "LeavesTheValuesRaw", {"self.W_v(context)": "context + 0 * self.W_v(context)"}, loses=EVERYWHERE
).feedback(
    "You do not project the values. The values are x (or context) times W_v, just as the keys are x (or context) "
    "times W_k."
)
right.mistake("UsesTheWeightsUntransposed", loses=EVERYWHERE).patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ return x @ self.W_q.weight, context @ self.W_k.weight, context @ self.W_v.weight
@@
- return self.W_o(output), weights
+ return output @ self.W_o.weight, weights
""").feedback(
    "You multiply by the weight matrices without transposing them. `nn.Linear` computes `x @ weight.T`, so call "
    "the layer, or transpose.",
    see="4. A module",
)
right.mistake(
    "SetsBlockedScoresToZero",
    {"blocked, -torch.inf": "blocked, 0.0", "blocked, 0.0": "blocked.expand_as(weights).all(-1, keepdim=True), 0.0"},
    loses="masks",
).feedback("You set blocked scores to 0, which is a score like any other. A blocked key must get the weight 0.")
right.mistake(masks.added, loses="masks").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ return (scores + blocked).softmax(-1)
""")
right.mistake("EmptiesTheRowInEveryHead", loses="a fully", clause="empty").patch("""
- return weights.masked_fill(blocked, 0.0)
+ weights = weights.masked_fill(blocked, 0.0)
+ return weights * (weights.sum(-1, keepdim=True) > 0).all(1, keepdim=True)
""").feedback(
    "If a row is fully blocked in one head, you set it to 0 in all heads. Check in each head by itself whether the "
    "row is fully blocked."
)
right.mistake("RenormalisesWhatIsLeft", loses="scores").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ left = scores.softmax(-1).masked_fill(blocked, 0.0)
+ total = left.sum(-1, keepdim=True)
+ return left / total.masked_fill(total == 0, 1.0)
""").feedback(
    "You set blocked weights to 0 after the softmax and divide by what is left. If a blocked key had all the "
    "weight, nothing is left. Block the scores instead."
)
right.mistake("ExponentiatesUnguarded", loses="scores", clause="large").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ grown = scores.exp().masked_fill(blocked, 0.0)
+ total = grown.sum(-1, keepdim=True)
+ return grown / total.masked_fill(total == 0, 1.0)
""").feedback("For large scores your `exp` overflows. Subtract each row's highest score first, or use `torch.softmax`.")
right.mistake(masks.causal_by_default, loses="self-attention").patch("""
  def forward(self, x, context=None, mask=None):
+     if context is None and mask is None:
+         mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
""")
right.mistake(results.scores_for_weights, loses=EVERYWHERE).patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
+ scores = self.score(query, key)
+ if mask is not None:
+     scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
+ weights = self.drop(self.weigh(scores, mask))
@@
- return self.W_o(output), weights
+ return self.W_o(output), scores
""")
right.mistake("DropsTheOutputToo", loses="dropout", when="the output is dropped, too").patch("""
- return self.W_o(output), weights
+ return F.dropout(self.W_o(output), self.p, self.training), weights
""").feedback("You apply dropout to the output too. In this module it applies to the weights only.")
right.mistake("DropsWhatTheHeadsFound", loses="dropout", when="what the heads found is dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
- output = self.merge(weights @ value)
+ weights = self.weigh(self.score(query, key), mask)
+ output = self.drop(self.merge(weights @ value))
""").feedback(
    "You apply dropout to the output of the heads, before W_o. Apply it to the weights, before they multiply the "
    "values."
)
right.mistake(modules.dropped_by_default, loses=("self-attention", "gradients"), when="drops unasked").patch("""
- def __init__(self, d_model, n_heads, dropout=0.0):
+ def __init__(self, d_model, n_heads, dropout=P):
""").for_each(P=(0.1, 0.2, 0.5))
right.mistake(
    "NeverDrops", {"F.dropout(weights, self.p, self.training)": "weights"}, loses="dropout", clause="dropped"
).feedback("`dropout` changes nothing in your module, not even in training mode.")
right.mistake(
    "DropsInEvalMode", {", self.training": ""}, loses=("self-attention", "dropout"), when="eval mode drops, too"
).feedback(
    "Your module drops weights in eval mode too. `F.dropout` needs `training=self.training`. An `nn.Dropout` knows "
    "the mode by itself if it is an attribute of the module, but not if it is in a list."
)
right.mistake("DropsTheOutput", loses="dropout", when="the output is dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
+ weights = self.weigh(self.score(query, key), mask)
@@
- return self.W_o(output), weights
+ return self.drop(self.W_o(output)), weights
""").feedback("You apply dropout to the output. Apply it to the weights, before they multiply the values.")
right.mistake("ReturnsTheWeightsBeforeDropout", loses="dropout", when="other weights are returned").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
- output = self.merge(weights @ value)
+ weights = self.weigh(self.score(query, key), mask)
+ output = self.merge(self.drop(weights) @ value)
""").feedback(
    "The output shows dropout, but the weights that you return do not. Apply dropout to the weights, and return "
    "the weights that you used for the output."
)
right.mistake("DropsTheScores", loses="dropout", when="the scores are dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
+ weights = self.weigh(self.drop(self.score(query, key)), mask)
""").feedback(
    "You apply dropout before the softmax, to the scores or to what they are computed from. A score of 0 does not "
    "give a weight of 0. Apply dropout to the weights."
)
right.mistake("DoesNotEnlargeTheSurvivors", loses="dropout", when="survivors keep their size").patch("""
- return F.dropout(weights, self.p, self.training)
+ return F.dropout(weights, self.p, self.training) * ((1 - self.p) if self.training else 1)
""").feedback("You do not enlarge the surviving weights. Multiply the survivors by 1 / (1 - dropout).")
right.mistake("TakesDropoutForTheShareKept", loses="dropout", when="what was to be kept is dropped").patch("""
- return F.dropout(weights, self.p, self.training)
+ return F.dropout(weights, 1 - self.p, self.training and self.p > 0)
""").feedback(
    "You *keep* each weight with probability `dropout`. `dropout` is the probability that a weight is dropped."
)
right.mistake(
    "DropsWholeHeads", {"F.dropout": "F.dropout2d"}, loses="dropout", when="whole heads are dropped"
).feedback("You drop whole heads. Each weight must be dropped independently.")
right.mistake("HasABiasAtTheEnd", loses="its parameters", clause="parameters").patch("""
  self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.W_o = nn.Linear(d_model, d_model)
""").feedback("Your last projection, W_o, has a bias. Make it with `bias=False`, like the others.")
right.mistake("SharesOneNarrowProjection", loses=("its parameters", *EVERYWHERE)).patch("""
- self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ size = d_model // self.n_heads
+ self.W_q, self.W_k, self.W_v = (nn.Linear(size, size, bias=False) for _ in range(3))
+ self.W_o = nn.Linear(d_model, d_model, bias=False)
@@
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ return tuple(
+     layer(source.unflatten(-1, (self.n_heads, -1))).flatten(-2)
+     for layer, source in ((self.W_q, x), (self.W_k, context), (self.W_v, context))
+ )
""").feedback(
    "Your projections for queries, keys and values are only as wide as one head and shared by all heads. Each must "
    "be (D, D), so that every head has its own band.",
    see="One matrix for all heads",
)
right.mistake("HasNoParametersAtFirst", loses=("its parameters", *EVERYWHERE)).patch("""
- self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.width = d_model
@@
  def forward(self, x, context=None, mask=None):
+     self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(self.width, self.width, bias=False) for _ in range(4))
""").feedback(
    "Your module has no parameters when it is created. Layers made in `forward` are new in each call, and layers "
    "in a list or a dict do not belong to the module: nothing trains them. Make them in `__init__`, as attributes."
)
right.mistake(gradients.weights_detached, {"(output), weights": "(output), weights.detach()"}, loses="gradients")
right.mistake(gradients.cut(what="`W_q` and `W_k`"), {"mask))": "mask)).detach()"}, loses="gradients")
for when, about in (
    ("in training mode", "self.training"),
    ("with dropout", "self.p"),
    ("with one head", "self.n_heads == 1"),
):
    right.mistake(
        masks.lost(f"LosesTheMask{when.title().replace(' ', '')}", when=when),
        {"key), mask))": f"key), None if {about} else mask))"},
        loses="masks",
        clause="mask" * (when == "with one head"),
    )
right.mistake(calls.first_mask_kept, loses="masks").patch("""
  def forward(self, x, context=None, mask=None):
+     if mask is not None:
+         mask = self.mask = getattr(self, "mask", mask)
""")
right.mistake(calls.result_remembered("KeepsTheFirstContext"), loses="cross-attention").patch("""
  def forward(self, x, context=None, mask=None):
+     if context is not None:
+         context = self.context = getattr(self, "context", context)
""").feedback(
    "You keep the keys and values of the first context and use them again for later contexts. Each call has its "
    "own context, and training may have changed the weights in the meantime."
)
right.mistake(
    "SharesTheDropout", {"n_heads, self": "n_heads, type(self)"}, loses="dropout", when="drops unasked"
).feedback("All modules of your class share one dropout. A second module changes that of the first. Keep it in `self`.")
right.mistake(
    modules.dropped_always, {"weights, self.p,": "weights, P,"}, loses="dropout", when="another share is dropped"
).for_each(P=(0.5, 0.1, 0.2))
right.mistake(modules.super_init_forgotten, loses=("its parameters", *EVERYWHERE)).patch("""
- super().__init__()
""")
right.mistake(
    "AsksWhetherTheContextIsTrue", {"x if context is None else context": "context or x"}, loses="cross-"
).feedback(
    "You ask whether the context itself is true (`context or x`). A tensor of many entries is neither true nor "
    "false: ask `context is None`."
)
right.mistake("NeverDropsAgain", loses="dropout").patch("""
- return F.dropout(weights, self.p, self.training)
+ if not self.training:
+     self.p = 0.0
+ return F.dropout(weights, self.p)
""").feedback(
    "After one call in eval mode, your module never drops anything again. You set the probability itself to 0. "
    "Check the mode in each call, and leave the stored probability unchanged."
)
right.mistake("SharesOneUnitAmongTheHeads", loses=EVERYWHERE).patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
+ scores = scores.masked_fill(blocked, -torch.inf).transpose(1, 2)
+ weights = scores.flatten(2).softmax(-1).view(scores.shape).transpose(1, 2)
""").feedback(
    "Your softmax runs over heads and keys together, so all heads of a query share a total weight of 1. The "
    "weights of each head must sum to 1 over the keys."
)
