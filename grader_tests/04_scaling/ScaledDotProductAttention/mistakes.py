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
    "You apply dropout before the softmax, to the *scores* or to what they are computed from. A score of 0 does "
    "not give a weight of 0. Apply dropout to the weights."
)
right.mistake("DropoutOnOutput", loses=("dropout", "the weights"), when="the output is dropped").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights @ value), weights
""").feedback("You apply dropout to the *output*, after the sum over the values. Apply it to the weights.")
right.mistake("WeightsFromBefore", loses=("dropout", "the weights"), when="other weights are returned").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights) @ value, weights
""").feedback(
    "The output shows dropout, but the weights that you return do not. Apply dropout to the weights, and return "
    "the weights that you used for the output."
)
right.mistake("DropsAfterTheSum", loses="the weights", when="other weights are applied", clause="applied").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return weights @ value, self.dropout(weights)
""").feedback(
    "You return dropped weights, but you compute the output from the weights before dropout. So dropout never "
    "affects the output."
)
right.mistake("DropsTwice", loses="the weights", when="dropped anew").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
- return weights @ value, weights
+ weights = torch.softmax(scores, dim=-1)
+ return self.dropout(weights) @ value, self.dropout(weights)
""").feedback(
    "You apply dropout twice, once for the output and once for the weights that you return. The two draws differ."
)
right.mistake(
    "NeverStops",
    {
        "self.dropout = nn.Dropout(dropout)": "self.p = dropout",
        "self.dropout(torch.softmax(scores, dim=-1))": "F.dropout(torch.softmax(scores, dim=-1), self.p)",
    },
    loses="eval mode",
    when="eval mode drops, too",
    clause="eval",
).feedback(
    "Your module drops weights in eval mode too. A function such as `F.dropout` does not know the module's mode, "
    "so pass the mode to it.",
)
right.mistake("TheWrongWayRound", loses=("eval mode", "dropout"), when="eval mode drops, too").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = F.dropout(torch.softmax(scores, dim=-1), self.p, not self.training)
""").feedback("Your module drops weights in eval mode and keeps them in training mode, the wrong way round.")
right.mistake("NeverDrops", loses=("dropout", "survivors"), when="nothing is dropped").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
""").feedback("Your module never drops anything: it takes `dropout` but does not use it.")
right.mistake(
    "NotRescaled", loses=("survivors", "gradients"), when="survivors keep their size", clause="survivors"
).patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ if self.training:
+     weights = weights * (torch.rand_like(weights) >= self.p)
""").feedback(
    "You do not rescale the surviving weights, so on average the weights are too small. Multiply the survivors by "
    "a factor that makes up for what was dropped."
)
right.mistake("RescaledInEval", loses=("survivors", "eval mode"), when="survivors keep their size").patch("""
- self.dropout = nn.Dropout(dropout)
+ self.p = dropout
@@
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * (torch.rand_like(weights) >= self.p if self.training else 1 - self.p)
""").feedback(
    "You rescale in the wrong mode: the weights shrink in eval mode, but the survivors do not grow in training. "
    "Dropout was first published that way. Here the survivors are multiplied in training, and eval mode changes "
    "nothing."
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
    "You multiply the surviving weights by the wrong number. With dropout p, a share of 1 - p survives, and the "
    "factor must make up for that."
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
    "After dropout each row of your weights sums to 1 again: you divide by the sum, or block keys before the "
    "softmax. The factor must be the same for all survivors, or the mean over many draws differs from eval mode. "
    "Drop weights, not scores, and normalise only once.",
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
    "You *keep* each weight with probability `dropout`. `dropout` is the probability that a weight is dropped."
)
right.mistake("DropsWholeRows", loses="dropout", when="alike for all keys").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(torch.ones_like(weights[..., :1]))
""").feedback("You drop whole rows, so a query loses all its keys or none. Each entry must be dropped independently.")
right.mistake("DropsWholeKeys", loses="dropout", when="alike for all queries").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(torch.ones_like(weights[..., :1, :]))
""").feedback("You drop whole keys, the same ones for every query. Each entry must be dropped independently.")
right.mistake("SharedAcrossTheBatch", loses="dropout", when="alike for all batch elements", clause="dropped").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
+ weights = weights * self.dropout(weights.new_ones(weights.shape[-2:]))
""").feedback(
    "All elements of a batch lose the same weights. Each entry must be dropped independently, in every element of "
    "the batch."
)
right.mistake("TheSameEveryTime", loses="dropout", when="alike for all calls").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ with torch.random.fork_rng():
+     torch.manual_seed(0)
+     weights = self.dropout(torch.softmax(scores, dim=-1))
""").feedback(
    "Every call of your module drops the same weights. Perhaps you draw once and keep the result, set a seed in "
    "`forward`, or do not draw at random at all. Draw afresh in each call."
)
right.mistake(scores.unscaled(see="4. Scaled dot-product attention"), loses=EVERYWHERE).patch("""
- scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(query @ key.transpose(-2, -1), dim=-1))
""").feedback(
    "You do not scale the scores. Divide them by √Dk, the square root of the width of the keys, or call your "
    "`scaled_dot_product_attention`."
)
right.mistake(scores.scaled_by_width(see="4. Scaled dot-product attention"), loses=EVERYWHERE).patch("""
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
    "You keep the scale of the first call and use it again for vectors of another width. Compute the scale from "
    "the vectors of each call."
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
    "Your class is not an `nn.Module`, so a model that contains it cannot switch its mode. Name the parent class "
    "in the first line of the class, and call its `__init__`."
)
right.mistake(
    "OneDropoutForAll", {"self.dropout = nn": "type(self).dropout = nn"}, loses="attention", when="eval mode drops, too"
).feedback(
    "All your modules share one dropout, because you keep it on the class. The module that was made last decides "
    "for all of them. Keep the dropout on `self`."
)
right.mistake("KeepsTheFirstSizes", loses="attention").patch("""
  weights = self.dropout(torch.softmax(scores, dim=-1))
+ if not hasattr(self, "ones"):
+     self.ones = torch.ones_like(weights)
+ weights = weights * self.ones
""").feedback("You keep a tensor with the sizes of the first call, so a later, longer input does not fit.")
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
    "After one call in eval mode, your module never drops anything again. You set the probability itself to 0. "
    "Check the mode in each call, and leave the stored probability unchanged."
)
right.mistake("DropsTheDropped", loses=("dropout", "survivors"), when="dropped twice over").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(self.dropout(torch.softmax(scores, dim=-1)))
""").feedback(
    "You apply dropout to the weights twice, the second time to those that survived the first. Too many weights "
    "are dropped, and the survivors become too large."
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
    "Your module never drops some of the weights. These are the weights of a position on itself, or the largest "
    "ones. Every entry must have the same probability of being dropped."
)
right.mistake(numbers.float32_on_the_way(what="the weights"), loses="float64").patch("""
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(scores.float(), dim=-1).to(query.dtype))
""")
right.mistake(
    shapes.squeezed, {"weights @ value, weights": "(weights @ value).squeeze(), weights.squeeze()"}, loses="batches"
)
right.mistake("LinesOfLesson0", loses=("dropout", "batches")).patch("""
- scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ scores = query @ key.permute(*reversed(range(key.ndim))) / query.shape[-1] ** 0.5
+ weights = self.dropout(torch.softmax(scores, dim=-1))
""").feedback(
    "These are the lines of lesson 0, made for one sentence: `.T` reverses all dimensions of a batch. Call your "
    "`scaled_dot_product_attention`, which takes any leading dimensions."
)
