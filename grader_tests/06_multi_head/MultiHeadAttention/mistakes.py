"""Known mistakes in `MultiHeadAttention`."""

from ...shared.families import arguments, calls, gradients, masks, modules, results, scores
from ...shared.heads import STEPS, add_mistakes
from ..common import LEVELS, SPLITTING
from .contract import mha

REFUSALS = ("ValueError", "refuses 0")  # what an answer loses that refuses nothing
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
    "You divide the scores by the root of the number of heads. It is the width of one head that counts."
)
right.mistake(scores.scaled_by_number_of_keys, {"query.shape[-1]": "key.shape[-2]"}, loses=EVERYWHERE)
right.mistake("CutsAndMergesBetweenWords", loses=EVERYWHERE).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.reshape(len(x), self.n_heads, x.shape[1], -1)
@@
- return x.transpose(1, 2).flatten(2)
+ return x.reshape(len(x), x.shape[2], -1)
""").feedback(
    "You cut the heads by reshape alone, and merge them in the same way. Every number returns to its place, but each "
    "head has seen a few whole words only.",
    see=SPLITTING,
)
right.mistake("DealsTheColumnsOutInTurn", loses=EVERYWHERE).patch("""
- return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
@@
- return x.transpose(1, 2).flatten(2)
+ return x.permute(0, 2, 3, 1).flatten(2)
""").feedback(
    "Your heads take turns: head 0 gets the columns 0, H, 2H, …. Each head owns one band of columns.",
    see="One matrix for all heads",
)
right.mistake(
    "ForgetsTheSoftmax", {"scores.masked_fill(blocked, -torch.inf).softmax(-1)": "scores"}, loses=EVERYWHERE
).feedback("There is no softmax: the scores themselves multiply the values.")
right.mistake("IgnoresTheContext", {"x if context is None else context": "x"}, loses="cross-attention").feedback(
    "`context` changes nothing: where one is given, keys and values come from it."
)
right.mistake("CutsTheContextAsLongAsX", loses="cross-").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ B, T, D = x.shape
+ key, value = (layer(context).view(B, T, self.n_heads, K) for layer in (self.W_k, self.W_v))
+ return self.W_q(x), key.flatten(2), value.flatten(2)
""").for_each(K=("D // self.n_heads", "-1")).feedback(
    "You cut keys and values as if the context were as long as x. It has a length of its own, S: take it from the "
    "context's shape."
)
right.mistake("AsksFromTheContext", {"self.W_q(x)": "self.W_q(context)"}, loses="cross-attention").feedback(
    "Your queries come from the context, too. The queries come from x: it is x that asks."
)
right.mistake("ExchangesTheRoles", loses="cross-attention").patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ return self.W_q(context), self.W_k(x), self.W_v(x)
""").feedback(
    "You take context for what asks and x for what answers. x asks: queries come from x, keys and values from context."
)
right.mistake(
    "ExchangesKeysAndValues", {"self.W_k(context), self.W_v": "self.W_v(context), self.W_k"}, loses=EVERYWHERE
).feedback("Your keys and values are projected by the wrong matrices: W_k and W_v have changed places.")
right.mistake("TakesTheMaskBeforeTheContext", {"context=None, mask": "mask=None, context"}, loses="cross-").feedback(
    "Your `forward` takes the mask before the context, and a call that gives them by position has them exchanged: the "
    "order is x, context, mask."
)
right.mistake("TakesValuesFromX", {"self.W_v(context)": "self.W_v(x)"}, loses="cross-attention").feedback(
    "Your values come from x where a context is given. Keys and values come from the context."
)
right.mistake("TakesKeysFromX", {"self.W_k(context)": "self.W_k(x)"}, loses="cross-attention").feedback(
    "Your keys come from x where a context is given. Keys and values come from the context."
)
right.mistake("RemembersTheContext", loses="self-attention").patch("""
  def forward(self, x, context=None, mask=None):
+     if context is not None:
+         self.kept = context
+     context = getattr(self, "kept", None)
""").feedback(
    "A context or a mask that was given once is kept for later calls. Each call stands alone: without a context it is "
    "x that answers, without a mask nothing is blocked."
)
right.mistake("ProjectsValuesWithTheKeysMatrix", {"self.W_v(context)": "self.W_k(context)"}, loses=EVERYWHERE).feedback(
    "Your values are made with W_k. They have a matrix of their own, W_v."
)
right.mistake(
    "ProjectsKeysWithTheQueriesMatrix", {"self.W_k(context)": "self.W_q(context)"}, loses=EVERYWHERE
).feedback("Your keys are made with W_q. They have a matrix of their own, W_k.")
right.mistake(
    "LeavesTheValuesRaw", {"self.W_v(context)": "context + 0 * self.W_v(context)"}, loses=EVERYWHERE
).feedback("The values are not projected: they are x (or context) times W_v, as keys are times W_k.")
right.mistake("UsesTheWeightsUntransposed", loses=EVERYWHERE).patch("""
- return self.W_q(x), self.W_k(context), self.W_v(context)
+ return x @ self.W_q.weight, context @ self.W_k.weight, context @ self.W_v.weight
@@
- return self.W_o(output), weights
+ return output @ self.W_o.weight, weights
""").feedback(
    "The matrices are used the wrong way round: nn.Linear computes x @ weight.T, so call the layer, or transpose.",
    see=LEVELS,
)
right.mistake(
    "SetsBlockedScoresToZero",
    {"blocked, -torch.inf": "blocked, 0.0", "blocked, 0.0": "blocked.expand_as(weights).all(-1, keepdim=True), 0.0"},
    loses="masks",
).feedback("You set blocked scores to 0. That is a score like any other; a blocked one must get the weight 0.")
right.mistake(masks.added, loses="masks").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ return (scores + blocked).softmax(-1)
""")
right.mistake("EmptiesTheRowInEveryHead", loses="a fully").patch("""
- return weights.masked_fill(blocked, 0.0)
+ weights = weights.masked_fill(blocked, 0.0)
+ return weights * (weights.sum(-1, keepdim=True) > 0).all(1, keepdim=True)
""").feedback(
    "A row that is blocked throughout in one head is emptied in all heads. Whether nothing is left to look at, each "
    "head asks for itself."
)
right.mistake("RenormalisesWhatIsLeft", loses="scores").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ left = scores.softmax(-1).masked_fill(blocked, 0.0)
+ total = left.sum(-1, keepdim=True)
+ return left / total.masked_fill(total == 0, 1.0)
""").feedback(
    "You take the softmax over all keys, set the blocked weights to 0 and divide by what is left. Where a blocked key "
    "had all the weight, nothing is left. Block the scores instead."
)
right.mistake("ExponentiatesUnguarded", loses="scores").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- return weights.masked_fill(blocked, 0.0)
+ grown = scores.exp().masked_fill(blocked, 0.0)
+ total = grown.sum(-1, keepdim=True)
+ return grown / total.masked_fill(total == 0, 1.0)
""").feedback("exp of a large score overflows: subtract each row's greatest score first, or use torch.softmax.")
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
""").feedback("Dropout falls on the output, too. In this module it falls on the weights only.")
right.mistake("DropsWhatTheHeadsFound", loses="dropout", when="what the heads found is dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
- output = self.merge(weights @ value)
+ weights = self.weigh(self.score(query, key), mask)
+ output = self.drop(self.merge(weights @ value))
""").feedback(
    "Dropout falls on what the heads found, before W_o. It belongs on the weights, before they meet the values."
)
right.mistake(modules.dropped_by_default, loses=("self-attention", "gradients"), when="drops unasked").patch("""
- def __init__(self, d_model, n_heads, dropout=0.0):
+ def __init__(self, d_model, n_heads, dropout=P):
""").for_each(P=(0.1, 0.2, 0.5))
right.mistake("NeverDrops", {"F.dropout(weights, self.p, self.training)": "weights"}, loses="dropout").feedback(
    "Dropout changes nothing in your module, in training mode either."
)
right.mistake(
    "DropsInEvalMode", {", self.training": ""}, loses=("self-attention", "dropout"), when="eval mode drops, too"
).feedback(
    "Dropout falls in eval mode, too. `F.dropout` must be told `training=self.training`; an `nn.Dropout` knows by "
    "itself where it is an attribute of the module, but not in a list."
)
right.mistake("DropsTheOutput", loses="dropout", when="the output is dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
+ weights = self.weigh(self.score(query, key), mask)
@@
- return self.W_o(output), weights
+ return self.drop(self.W_o(output)), weights
""").feedback("Dropout falls on the output. It belongs on the weights, before they meet the values.")
right.mistake("ReturnsTheWeightsBeforeDropout", loses="dropout", when="other weights are returned").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
- output = self.merge(weights @ value)
+ weights = self.weigh(self.score(query, key), mask)
+ output = self.merge(self.drop(weights) @ value)
""").feedback(
    "The weights that you return show no dropout, and the output does. It falls on the weights, and those that were "
    "applied are the ones to return."
)
right.mistake("DropsTheScores", loses="dropout", when="the scores are dropped").patch("""
- weights = self.drop(self.weigh(self.score(query, key), mask))
+ weights = self.weigh(self.drop(self.score(query, key)), mask)
""").feedback(
    "Dropout falls before the softmax, on the scores or what they are made of. A score of 0 is no weight of 0: drop "
    "the weights."
)
right.mistake("DoesNotEnlargeTheSurvivors", loses="dropout", when="survivors keep their size").patch("""
- return F.dropout(weights, self.p, self.training)
+ return F.dropout(weights, self.p, self.training) * ((1 - self.p) if self.training else 1)
""").feedback(
    "Dropped weights are 0, but the others are not enlarged: what survives is multiplied by 1 / (1 - dropout)."
)
right.mistake("TakesDropoutForTheShareKept", loses="dropout", when="what was to be kept is dropped").patch("""
- return F.dropout(weights, self.p, self.training)
+ return F.dropout(weights, 1 - self.p, self.training and self.p > 0)
""").feedback("`dropout` is the probability of being dropped, and you keep with that probability.")
right.mistake(
    "DropsWholeHeads", {"F.dropout": "F.dropout2d"}, loses="dropout", when="whole heads are dropped"
).feedback("Dropout strikes out whole heads. It falls on each weight on its own.")
right.mistake("HasABiasAtTheEnd", loses="its parameters").patch("""
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
    "Your projections for queries, keys and values are as narrow as one head and shared by all heads. Each is (D, D), "
    "so that every head has a band of its own.",
    see="One matrix for all heads",
)
right.mistake("HasNoParametersAtFirst", loses=("its parameters", *EVERYWHERE)).patch("""
- self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
+ self.width = d_model
@@
  def forward(self, x, context=None, mask=None):
+     self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(self.width, self.width, bias=False) for _ in range(4))
""").feedback(
    "Once it is made, your module has no parameters. Layers that are made in forward are new in each call, and those "
    "in a list or a dict do not belong to the module: nothing trains them. Make them in __init__, as attributes."
)
right.mistake(gradients.weights_detached, {"(output), weights": "(output), weights.detach()"}, loses="gradients")
right.mistake(gradients.cut(what="`W_q` and `W_k`"), {"mask))": "mask)).detach()"}, loses="gradients")
right.mistake(
    arguments.not_refused(
        "A width that the heads cannot share is not refused: raise a ValueError that names n_heads or d_model."
    ),
    loses=REFUSALS,
)
right.mistake(arguments.error_without_name(), loses=REFUSALS)
right.mistake(arguments.asserts(), loses=REFUSALS)
right.mistake(arguments.zero_divides, {"n_heads < 1 or ": ""}, loses="refuses 0")
right.mistake(
    arguments.unchecked("lets_negative_numbers_pass"), {"n_heads < 1": "n_heads == 0"}, loses="refuses 0"
).feedback(
    "0 heads are refused, -3 are not: `12 % -3` is 0, so that a negative number seems to divide. Ask for 1 or more."
)
for when, about in (
    ("in training mode", "self.training"),
    ("with dropout", "self.p"),
    ("with one head", "self.n_heads == 1"),
):
    right.mistake(
        masks.lost(f"LosesTheMask{when.title().replace(' ', '')}", when=when),
        {"key), mask))": f"key), None if {about} else mask))"},
        loses="masks",
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
    "The keys and values of the first context are kept, and used again in place of those of later ones. Each call has "
    "a context of its own, and weights that training has moved meanwhile."
)
right.mistake(
    "SharesTheDropout", {"n_heads, self": "n_heads, type(self)"}, loses="dropout", when="drops unasked"
).feedback(
    "The dropout is kept where all modules of the class share it: a second one changes that of the first. Keep it in "
    "`self`."
)
right.mistake(
    modules.dropped_always, {"weights, self.p,": "weights, P,"}, loses="dropout", when="another share is dropped"
).for_each(P=(0.5, 0.1, 0.2))
right.mistake(modules.super_init_forgotten, loses=("its parameters", *EVERYWHERE)).patch("""
- super().__init__()
""")
right.mistake(
    "AsksWhetherTheContextIsTrue", {"x if context is None else context": "context or x"}, loses="cross-"
).feedback(
    "You ask whether the context itself is true (`context or x`). A tensor of many numbers is neither true nor false: "
    "ask `context is None`."
)
right.mistake("NeverDropsAgain", loses="dropout").patch("""
- return F.dropout(weights, self.p, self.training)
+ if not self.training:
+     self.p = 0.0
+ return F.dropout(weights, self.p)
""").feedback(
    "After one call in eval mode your module never drops anything again: the probability itself was set to 0. Decide "
    "in each call, and leave what `__init__` kept as it was."
)
right.mistake("SharesOneUnitAmongTheHeads", loses=EVERYWHERE).patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
+ scores = scores.masked_fill(blocked, -torch.inf).transpose(1, 2)
+ weights = scores.flatten(2).softmax(-1).view(scores.shape).transpose(1, 2)
""").feedback(
    "All heads of a query share one unit: your softmax runs over heads and keys together. The weights of each head sum "
    "to 1 over the keys."
)
