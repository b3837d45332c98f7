"""Multi-head attention in small steps, and the mistakes in those steps that both of its modules know.

`MultiHeadAttention` of lesson 06 and `RotarySelfAttention` of lesson 07 are each a class that begins in its own way and
ends with STEPS.
"""

from collections.abc import Sequence

from grading.exercises.exercise import CorrectAnswer

# `forward` is the class's own. It calls these, and ends with
#     output = self.merge(weights @ value)
#     return self.W_o(output), weights
STEPS = """
    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def score(self, query, key):
        return query @ key.mT / query.shape[-1] ** 0.5

    def weigh(self, scores, mask):
        blocked = torch.tensor(False) if mask is None else mask
        weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
        return weights.masked_fill(blocked, 0.0)
"""


def add_mistakes(
    right: CorrectAnswer, wrong: Sequence[str], *, cutting: str = "", maps: str = "", any_mask: bool = True
) -> None:
    """Make the mistakes in STEPS of `right`.

    wrong     the criteria that are lost where every output is wrong
    cutting   heading on how heads are cut and merged, where it is another than the exercise's
    maps      heading on what PyTorch's layer returns beside the output, likewise
    any_mask  whether a mask of any shape that broadcasts to the scores is taken
    """
    _in_the_heads(right, wrong, cutting, maps)
    _in_the_weights(right, wrong)
    _in_the_mask(right, any_mask)


def _in_the_heads(right: CorrectAnswer, wrong: Sequence[str], cutting: str, maps: str) -> None:
    right.mistake(
        "CutsBetweenWords",
        {"x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": "x.reshape(len(x), self.n_heads, x.shape[1], -1)"},
        loses=wrong,
    ).feedback(
        "You cut the heads by reshape alone, so each of them sees a few whole words: split the last dimension, then "
        "exchange two.",
        see=cutting,
    )
    right.mistake(
        "MergesByReshapeAlone", {"x.transpose(1, 2).flatten(2)": "x.reshape(len(x), x.shape[2], -1)"}, loses=wrong
    ).feedback(
        "The weights are right, the output is not: you merge the heads without exchanging heads and words first.",
        see=cutting,
    )
    right.mistake("ForgetsToMix", {"self.W_o(output)": "output"}, loses=wrong).feedback(
        "The last step is missing: W_o mixes the heads' answers."
    )
    right.mistake("AveragesTheWeights", {"(output), weights": "(output), weights.mean(1)"}, loses=wrong).feedback(
        "You return the mean of the weights over the heads, as PyTorch's layer does. Return one map for each head.",
        see=maps,
    )
    right.mistake(
        "ReturnsTheWeightsFirst", {"self.W_o(output), weights": "weights, self.W_o(output)"}, loses=wrong
    ).feedback("You return the weights before the output: the order is (output, weights).")
    right.mistake("ReturnsTheOutputAlone", {"(output), weights": "(output)"}, loses=wrong).feedback(
        "You return the output alone; the weights belong to it: (output, weights)."
    )
    right.mistake("AddsTheInput", {"self.W_o(output), weights": "x + self.W_o(output), weights"}, loses=wrong).feedback(
        "x itself is added to the output. That sum stands round the module, where it is used; here the output alone is "
        "asked for."
    )
    right.mistake("HasBiases", {", bias=False": ""}, loses="its parameters").feedback(
        "Your projections have a bias. Make them with `bias=False`."
    )
    right.mistake(
        "ComputesInFloat32",
        {
            "scores.masked_fill": "scores.float().masked_fill",
            "weights @ value": "(weights @ value.float()).to(x.dtype)",
        },
        loses="float64",
    ).feedback("You compute in float32 whatever the dtype of x is.")


def _in_the_weights(right: CorrectAnswer, wrong: Sequence[str]) -> None:
    right.mistake("DoesNotScale", {"key.mT / query.shape[-1] ** 0.5": "key.mT"}, loses=wrong).feedback(
        "Your scores are not scaled: divide them by the root of the width of one head."
    )
    right.mistake("ScalesWithoutTheRoot", {"query.shape[-1] ** 0.5": "query.shape[-1]"}, loses=wrong).feedback(
        "You divide the scores by the width of a head, and must divide by its root."
    )
    right.mistake("SoftmaxOverHeads", {"softmax(-1)": "softmax(1)"}, loses=wrong).feedback(
        "Your softmax runs over the heads. Each head has weights of its own, over the keys."
    )
    right.mistake("SoftmaxOverQueries", {"softmax(-1)": "softmax(-2)"}, loses=wrong).feedback(
        "Your softmax runs over the queries: it is the keys, the last dimension, that share the weight."
    )

    right.mistake("DividesThePower", {"/ query.shape[-1] ** 0.5": "* query.shape[-1] ** -1 / 2"}, loses=wrong).feedback(
        "The exponent is not what it seems: `**` comes before `/`, so that `K ** -1 / 2` is half of 1 / K. Compare it "
        "with `math.sqrt` for K = 16."
    )
    right.mistake(
        "ReshapesTheKeys", {"key.mT": "key.reshape(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=wrong
    ).feedback(
        "You reshape the keys where they should be transposed. The shape comes out right, and the numbers stay in "
        "their old order, so that a column of the result holds pieces of several keys."
    )


def _in_the_mask(right: CorrectAnswer, any_shape: bool) -> None:
    everything, a_row = ("masks", "a fully"), "a fully"
    right.mistake("InvertsTheMask", {"else mask": "else ~mask"}, loses=everything).feedback(
        "Your mask works the wrong way round: True means blocked."
    )
    right.mistake(
        "IgnoresTheMask", {"torch.tensor(False) if mask is None else mask": "torch.tensor(False)"}, loses=everything
    ).feedback("The mask changes nothing.")
    right.mistake(
        "MakesAMaskOnAnotherDevice",
        {"torch.tensor(False)": "torch.zeros(scores.shape[-2:], dtype=torch.bool)"},
        loses="float64",
    ).feedback(
        "Without a mask you make one on PyTorch's default device. x may lie elsewhere: name its device, or do without."
    )
    right.mistake(
        "MasksAfterTheSoftmax", {"scores.masked_fill(blocked, -torch.inf)": "scores"}, loses="masks"
    ).feedback(
        "You set blocked weights to 0 after the softmax, and so the others no longer sum to 1. Block the scores."
    )
    if any_shape:
        right.mistake("AddsADimensionToTheMask", {"else mask": "else mask.unsqueeze(1)"}, loses="masks").feedback(
            "You add a dimension to the mask. It need not have four; it broadcasts to the scores as it is."
        )
    right.mistake("LeavesBlockedRowsNaN", {"weights.masked_fill(blocked, 0.0)": "weights"}, loses=a_row).feedback(
        "A row that is blocked throughout is NaN: the softmax of nothing but −∞. Its weights must be 0."
    )
    right.mistake(
        "RepairsTheForwardPassOnly",
        {
            "scores.masked_fill(blocked, "
            "-torch.inf)": "(scores + torch.zeros_like(scores).masked_fill(blocked, -torch.inf))",
            "masked_fill(blocked, 0.0)": "nan_to_num(0.0)",
        },
        loses=(a_row, "gradients"),
    ).feedback(
        "A row that is blocked throughout is NaN only in the gradient: `nan_to_num` repairs the weights, but on the "
        "way back 0 · NaN is NaN. Fill the blocked scores instead of adding −∞."
    )
    right.mistake(
        "SpreadsBlockedRowsEvenly",
        {"-torch.inf": "torch.finfo(scores.dtype).min", "weights.masked_fill(blocked, 0.0)": "weights"},
        loses=a_row,
    ).feedback(
        "A row that is blocked throughout gets equal weights: all its scores are the same large negative number. Its "
        "weights must be 0."
    )
    right.mistake("FillsWithAFixedNumber", {"-torch.inf": "FILL"}, loses="scores").for_each(
        FILL=(-1e9, -1e4, -1e5, -1e6, -1e10, -1e12)
    ).feedback(
        "You set blocked scores to a fixed number such as −1e9. Real scores can be lower than that, and then it is the "
        "blocked ones that win."
    )
    right.mistake("TurnsTheMaskRoundInPlace", {"else mask": "else ~mask.logical_not_()"}, loses="float64").feedback(
        "You turn the mask round in place: whoever handed it to you now holds its opposite. Make a new one with "
        "`~mask`."
    )
    right.mistake(
        "FillsWithNextToNothing",
        {"-torch.inf": "FILL", "weights.masked_fill(blocked, 0.0)": "weights"},
        loses=everything,
    ).for_each(FILL=(-1e-12, 0.0)).feedback(
        "Blocked scores become 0, or a number near it such as -1e-12 (was 1e12 meant?). A score of 0 is a vote like "
        "any other: look at the weight that a blocked key gets."
    )
