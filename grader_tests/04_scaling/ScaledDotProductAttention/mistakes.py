"""Known mistakes in `ScaledDotProductAttention`."""

from ...shared.families import calls, gradients, modules, numbers, results, scores, shapes
from .contract import ROWS, ScaledDotProductAttention

EVERYWHERE = ("attention", "eval mode")  # what an answer loses whose every result is wrong

right = ScaledDotProductAttention.reference_answer("""
class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value, weights
""")

right.mistake("DropoutOnScores", loses=("dropout", "survivors"), when="the scores are dropped").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(self.dropout(scores), dim=-1)
""").feedback(
    "Dropout fell before the softmax, on the *scores* or what they are made of: a score of 0 is no weight of 0. It "
    "belongs on the weights."
)
right.mistake("DropoutOnOutput", loses=("dropout", "the weights"), when="the output is dropped").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights @ value), weights
""").feedback("Dropout fell on the *output*, after the sum over the values. It belongs on the weights.")
right.mistake("WeightsFromBefore", loses=("dropout", "the weights"), when="other weights are returned").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights) @ value, weights
""").feedback(
    "The weights that you return were never dropped, and the output shows a dropout. It belongs on the weights, and "
    "those that were applied are the ones to return."
)
right.mistake("DropsAfterTheSum", loses="the weights", when="other weights are applied").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return weights @ value, self.dropout(weights)
""").feedback(
    "The dropped weights were returned, and the ones from before were applied: the output never notices dropout."
)
right.mistake("DropsTwice", loses="the weights", when="dropped anew").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights) @ value, self.dropout(weights)
""").feedback("Dropped twice, once for the output and once more for what is returned: two rolls of the dice differ.")
right.mistake(
    "NeverStops",
    {
        "self.dropout = nn.Dropout(dropout)": "self.p = dropout",
        "self.dropout(torch.softmax(scores, dim=-1))": "F.dropout(torch.softmax(scores, dim=-1), self.p)",
    },
    loses="eval mode",
    when="eval mode drops, too",
).feedback(
    "Weights are dropped in eval mode, too. A function such as `F.dropout` knows nothing of the module's mode: "
    "tell it.",
    see="9. Seen in the wild",
)
right.mistake("TheWrongWayRound", loses=("eval mode", "dropout"), when="eval mode drops, too").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = F.dropout(torch.softmax(scores, dim=-1), self.p, not self.training)
""").feedback("Dropped in eval mode and kept in training mode: the wrong way round.")
right.mistake("NeverDrops", loses=("dropout", "survivors"), when="nothing is dropped").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
""").feedback("Nothing is ever dropped: `dropout` is taken and not used.")
right.mistake("NotRescaled", loses=("survivors", "gradients"), when="survivors keep their size").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ if self.training:
+     weights = weights * (torch.rand_like(weights) >= self.p)
""").feedback(
    "The survivors keep their size, so that on average the weights are too small. What makes up for what was dropped?"
)
right.mistake("RescaledInEval", loses=("survivors", "eval mode"), when="survivors keep their size").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * (torch.rand_like(weights) >= self.p if self.training else 1 - self.p)
""").feedback(
    "Nothing makes up for the dropped weights in training; in eval mode all are made smaller instead. That is how "
    "dropout was first published; here the survivors are multiplied in training, and eval mode leaves all alone."
)
right.mistake("DividedByP", loses="survivors", when="divided by p").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ if self.training and self.p > 0:
+     weights = weights * (torch.rand_like(weights) >= self.p) / self.p
""").feedback(
    "The survivors were multiplied by the wrong number: with a dropout of p, a share 1 - p survives, and that is what "
    "has to be made up for."
)
right.mistake("NormalisedAgain", loses=("survivors", "gradients"), when="rows sum to 1 again").patch("""
  weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = AGAIN
""").for_each(  # keys that are blocked before the softmax come to the same
    AGAIN=(
        "weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-12)",
        "torch.softmax(scores.masked_fill(weights == 0, -torch.inf), dim=-1).nan_to_num()",
    )
).feedback(
    "Each row sums to 1 again: the weights were divided by what was left of them, or keys were blocked before the "
    "softmax. Then the survivors' factor depends on which keys are left. It must be the same for all, or the mean over "
    "many draws is no longer the attention of eval mode: drop weights, not scores, and do not normalise twice.",
    see=ROWS,
)
right.mistake("KeepsWithProbability", loses=("dropout", "survivors"), when="what was to be kept is dropped").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ if self.training and self.p > 0:
+     weights = weights * torch.bernoulli(torch.full_like(weights, self.p)) / self.p
""").feedback(
    "`dropout` is the probability with which a weight is *dropped*; here it is the one with which it is kept."
)
right.mistake("DropsWholeRows", loses="dropout", when="alike for all keys").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(torch.ones_like(weights[..., :1]))
""").feedback("Whole rows were dropped: a query loses all its keys or none. Every entry has its own roll of the dice.")
right.mistake("DropsWholeKeys", loses="dropout", when="alike for all queries").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(torch.ones_like(weights[..., :1, :]))
""").feedback("Whole keys were dropped, the same for every query. Every entry has its own roll of the dice.")
right.mistake("SharedAcrossTheBatch", loses="dropout", when="alike for all batch elements").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(weights.new_ones(weights.shape[-2:]))
""").feedback(
    "All elements of a batch lose the same weights. Every entry has its own roll of the dice, in every batch element."
)
right.mistake("TheSameEveryTime", loses="dropout", when="alike for all calls").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ with torch.random.fork_rng():
+     torch.manual_seed(0)
+     weights = self.dropout(torch.softmax(scores, dim=-1))
""").feedback(
    "Every call drops the same weights: the dice were rolled once and kept, seeded in `forward`, or not rolled at all. "
    "Roll them anew."
)
right.mistake(scores.unscaled(see="6. Scaled dot-product attention"), loses=EVERYWHERE).patch("""
- scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1), dim=-1))
""")
right.mistake(scores.scaled_by_width(see="6. Scaled dot-product attention"), loses=EVERYWHERE).patch("""
- scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1], dim=-1))
""")
right.mistake(calls.result_remembered("KeepsTheFirstScale"), loses="attention").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.dropout, self.scale = nn.Dropout(dropout), None
@@
- scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ if self.scale is None:
+     self.scale = query.shape[-1] ** -0.5
+ weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1) * self.scale, dim=-1))
""").feedback(
    "The scale of the first call is kept, and used for vectors of another width. Ask each call's vectors for theirs."
)
right.mistake(
    modules.dropped_by_default, {"dropout=0.0": "dropout=P"}, loses="attention", when="drops unasked"
).for_each(P=(0.1, 0.2, 0.5))
right.mistake(
    modules.dropped_always, {"(dropout)": "(P)"}, loses=("attention", "dropout"), when="another share is dropped"
).for_each(P=(0.1, 0.2, 0.5))
right.mistake(results.weights_first, {"weights @ value, weights": "weights, weights @ value"}, loses=EVERYWHERE)
right.mistake(gradients.overwritten_before_backward(what="the weights"), loses="gradients").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.dropout = nn.Dropout(dropout, inplace=True)
""")
right.mistake(results.output_alone, loses=EVERYWHERE).patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ return self.dropout(torch.softmax(scores, dim=-1)) @ value
""")
ScaledDotProductAttention.mistake("NoModule", loses=EVERYWHERE).full_code("""
class ScaledDotProductAttention:
    def __init__(self, dropout=0.0):
        self.p, self.training = dropout, True

    def __call__(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        weights = F.dropout(torch.softmax(scores, dim=-1), self.p, self.training)
        return weights @ value, weights
""").feedback(
    "No `nn.Module`, so nothing around it can switch its mode. Name the parent after the class, and "
    "call its `__init__`."
)
right.mistake(
    "OneDropoutForAll", {"self.dropout = nn": "type(self).dropout = nn"}, loses="attention", when="eval mode drops, too"
).feedback(
    "Two modules share one dropout: you keep it on the class, where the module that was made last decides for all. "
    "What belongs to one module stands on `self`."
)
right.mistake("KeepsTheFirstSizes", loses="attention").patch("""
  weights = self.dropout(torch.softmax(scores, dim=-1))
+ if not hasattr(self, "ones"):
+     self.ones = torch.ones_like(weights)
+ weights = weights * self.ones
""").feedback(
    "Something is made at the first call and kept, with the sizes of that call: the next one, which is longer, does "
    "not fit."
)
right.mistake(scores.power_divided, {"/ query.shape[-1] ** 0.5": "* (SCALE)"}, loses="attention").for_each(
    SCALE=("query.shape[-1] ** -1 / 2", "2 / query.shape[-1]")
)
right.mistake(modules.super_init_forgotten, loses=("attention", "eval", "dropout", "survivors")).patch("""
- super().__init__()
- self.dropout = nn.Dropout(dropout)
+ KEPT
""").for_each(KEPT=("self.dropout = nn.Dropout(dropout)", "self.p = dropout"))
right.mistake(
    shapes.reshaped_keys, {"key.transpose(-2, -1)": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses="attention"
).for_each(VIEW=("reshape", "view"))
right.mistake("NeverDropsAgain", loses="eval mode").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ if not self.training:
+     self.p = 0.0
+ weights = F.dropout(torch.softmax(scores, dim=-1), self.p)
""").feedback(
    "After one call in eval mode your module never drops anything again: the probability itself was set to 0. Decide "
    "in each call, and leave what `__init__` kept as it was."
)
right.mistake("DropsTheDropped", loses=("dropout", "survivors"), when="dropped twice over").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(self.dropout(torch.softmax(scores, dim=-1)))
""").feedback(
    "Dropout falls on the weights twice, the second time on what the first one left: too many are dropped, and the "
    "rest becomes too large."
)
right.mistake("SparesSomeWeights", loses="dropout", when="some are spared").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ spared = SPARED
+ weights = torch.where(spared & self.training, weights / (1 - self.p), F.dropout(weights, self.p, self.training))
""").for_each(
    SPARED=(
        "torch.eye(*weights.shape[-2:], dtype=torch.bool, device=weights.device)",
        "weights == weights.amax(dim=-1, keepdim=True)",
    )
).feedback(
    "Some weights are never dropped: those of a position on itself, or the largest. Every entry falls with the same "
    "probability."
)
right.mistake(numbers.float32_on_the_way(what="the weights"), loses="float64").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(scores.float(), dim=-1).to(query.dtype))
""")
right.mistake(
    shapes.squeezed, {"weights @ value, weights": "(weights @ value).squeeze(), weights.squeeze()"}, loses="batches"
)
