"""Steps of multi-head attention and known mistakes in them, for two exercises.

`MultiHeadAttention` of lesson 06 and `RotarySelfAttention` of lesson 07 begin in different ways, and both end with
STEPS.
"""

from collections.abc import Sequence

from grading.exercises.exercise import CorrectAnswer

from .families import arguments, gradients, masks, modules, numbers, results, scores, shapes

# Each class has its own `forward`, which calls these and ends with
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
    """Add the known mistakes in STEPS to `right`.

    wrong     criteria that are lost if every output is wrong
    cutting   heading on how heads are cut and merged, if it is not the exercise's own
    maps      heading on what PyTorch's layer returns beside the output, likewise
    any_mask  whether the mask may have any shape that broadcasts to the scores
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
        "You split the heads by reshaping alone, so each head sees a few whole words. Split the last dimension, then "
        "swap two dimensions.",
        see=cutting,
    )
    right.mistake(
        "MergesByReshapeAlone", {"x.transpose(1, 2).flatten(2)": "x.reshape(len(x), x.shape[2], -1)"}, loses=wrong
    ).feedback(
        "You merge the heads without first swapping heads and words. The weights are right, but the output is not.",
        see=cutting,
    )
    right.mistake("ForgetsToMix", {"self.W_o(output)": "output"}, loses=wrong).feedback(
        "You leave out the last step, `W_o`. It mixes the outputs of the heads."
    )
    right.mistake(modules.weights_averaged(see=maps), {"(output), weights": "(output), weights.mean(1)"}, loses=wrong)
    right.mistake(results.weights_first, {"self.W_o(output), weights": "weights, self.W_o(output)"}, loses=wrong)
    right.mistake(results.output_alone, {"(output), weights": "(output)"}, loses=wrong)
    right.mistake(modules.input_added, {"self.W_o(output), weights": "x + self.W_o(output), weights"}, loses=wrong)
    right.mistake("HasBiases", {", bias=False": ""}, loses="its parameters").feedback(
        "Your projections have a bias. Make them with `bias=False`."
    )
    right.mistake(
        numbers.float32_on_the_way,
        {
            "scores.masked_fill": "scores.float().masked_fill",
            "weights @ value": "(weights @ value.float()).to(x.dtype)",
        },
        loses="float64",
    )


def _in_the_weights(right: CorrectAnswer, wrong: Sequence[str]) -> None:
    right.mistake(scores.unscaled, {"key.mT / query.shape[-1] ** 0.5": "key.mT"}, loses=wrong)
    right.mistake(scores.scaled_by_width, {"query.shape[-1] ** 0.5": "query.shape[-1]"}, loses=wrong)
    right.mistake(scores.softmax_over_heads, {"softmax(-1)": "softmax(1)"}, loses=wrong)
    right.mistake(scores.softmax_over_queries, {"softmax(-1)": "softmax(-2)"}, loses=wrong)

    right.mistake(scores.power_divided, {"/ query.shape[-1] ** 0.5": "* query.shape[-1] ** -1 / 2"}, loses=wrong)
    right.mistake(shapes.reshaped_keys, {"key.mT": "key.reshape(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=wrong)


def _in_the_mask(right: CorrectAnswer, any_shape: bool) -> None:
    everything, a_row = ("masks", "a fully"), "a fully"
    right.mistake(masks.inverted, {"else mask": "else ~mask"}, loses=everything)
    right.mistake(
        masks.ignored, {"torch.tensor(False) if mask is None else mask": "torch.tensor(False)"}, loses=everything
    )
    right.mistake(
        numbers.default_device(what="a mask"),
        {"torch.tensor(False)": "torch.zeros(scores.shape[-2:], dtype=torch.bool)"},
        loses="float64",
    )
    right.mistake(masks.after_softmax, {"scores.masked_fill(blocked, -torch.inf)": "scores"}, loses="masks")
    if any_shape:
        right.mistake("AddsADimensionToTheMask", {"else mask": "else mask.unsqueeze(1)"}, loses="masks").feedback(
            "You add a dimension to the mask. It need not have four; it broadcasts to the scores as it is."
        )
    right.mistake(masks.blocked_rows_nan, {"weights.masked_fill(blocked, 0.0)": "weights"}, loses=a_row)
    right.mistake(
        gradients.nan_wiped_off,
        {
            "scores.masked_fill(blocked, "
            "-torch.inf)": "(scores + torch.zeros_like(scores).masked_fill(blocked, -torch.inf))",
            "masked_fill(blocked, 0.0)": "nan_to_num(0.0)",
        },
        loses=(a_row, "gradients"),
    )
    right.mistake(
        masks.blocked_rows_equal,
        {"-torch.inf": "torch.finfo(scores.dtype).min", "weights.masked_fill(blocked, 0.0)": "weights"},
        loses=a_row,
    )
    right.mistake(masks.blocked_by_number, {"-torch.inf": "FILL"}, loses="scores").for_each(
        FILL=(-1e9, -1e4, -1e5, -1e6, -1e10, -1e12)
    )
    right.mistake(arguments.mask_inverted_in_place, {"else mask": "else ~mask.logical_not_()"}, loses="float64")
    right.mistake(
        masks.blocked_by_small_number,
        {"-torch.inf": "FILL", "weights.masked_fill(blocked, 0.0)": "weights"},
        loses=everything,
    ).for_each(FILL=(-1e-12, 0.0))
