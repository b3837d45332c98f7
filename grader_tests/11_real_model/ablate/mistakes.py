"""Known mistakes in `ablate`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import ablate

ZERO, MEAN, GRADIENTS, LEFT = "zero for these", "their mean", "gradients", "what was given"
ALL = (ZERO, MEAN, GRADIENTS)

right = ablate.alternative("ablate_a_copy")
at_once = ablate.alternative("ablate_by_index")
factor = ablate.alternative("ablate_by_a_factor")
stacked = ablate.alternative("ablate_by_stacking")

right.mistake(shapes.squeezed, {"return out": "return out.squeeze(DIM)"}, loses=ZERO).for_each(DIM=(1, -1)).feedback(
    "`squeeze` removes a dimension of size 1 that belongs to the result: there may be one head, or one number in each."
)
right.mistake("in_place", {"head_outputs.clone()": "COPY"}, loses=(GRADIENTS, LEFT)).for_each(
    COPY=(
        "head_outputs",
        "head_outputs.detach()",
        "head_outputs.contiguous()",
        "head_outputs.reshape(head_outputs.shape)",
    )
).feedback("You write into head_outputs itself. Whoever gave it goes on using it: work on a copy.")
right.mistake(
    arguments.argument_changed("in_place_through_data"),
    {"head_outputs.clone()": "head_outputs", "out[:, h] =": "out.data[:, h] ="},
    loses=(GRADIENTS, LEFT),
).feedback(
    "You write into head_outputs itself, through `.data`: gradients go on flowing through what was taken "
    "out. Work on a copy."
)
right.mistake("the_texts", {"out[:, h] = ": "out[h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You put texts to zero: the first dimension counts texts, the second heads."
)
right.mistake("the_tokens", {"out[:, h] = ": "out[:, :, h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You put tokens to zero: the second dimension counts heads, the third tokens."
)
right.mistake("the_features", {"out[:, h] = ": "out[..., h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You put features of all heads to zero: the second dimension counts heads."
)
stacked.mistake("keeps_only_them", {"if h not in heads": "if h in heads"}, loses=ALL).feedback(
    "It is the other way round: the heads that are asked for go, the others stay."
)
right.mistake("only_the_first", {"for h in heads:": "for h in heads[:1]:"}, loses=ALL).feedback(
    "Only the first of the heads is taken out."
)
right.mistake("only_the_last", {"for h in heads:": "for h in heads[-1:]:"}, loses=ALL).feedback(
    "Only the last of the heads is taken out."
)
right.mistake("takes_all_for_none", {"in heads:": "in heads or range(out.shape[1]):"}, loses=ZERO).feedback(
    "An empty list is taken for all heads. It means that none is taken out."
)
right.mistake("only_the_first_text", {"out[:, h] =": "out[0, h] ="}, loses=ALL).feedback(
    "The heads are taken out of the first text only."
)
right.mistake("only_the_last_token", {"out[:, h] =": "out[:, h, -1] ="}, loses=ALL).feedback(
    "The heads are taken out at the last token only."
)
right.mistake("stops_after_one", {"    return out": "        return out"}, loses=ALL).feedback(
    "The `return` stands inside the loop: only one head is taken out, and none where the list is empty."
)
right.mistake("takes_a_range", {"for h in heads:": "for h in range(len(heads)):"}, loses=ALL).feedback(
    "You take out the first heads, as many as are asked for, and not those that are."
)
right.mistake("from_one", {"out[:, h] =": "out[:, h - 1] ="}, loses=ALL).feedback(
    "You count heads from 1. The first one is head 0."
)
right.mistake("forgets_the_mean", {"0.0 if mean is None else mean[h]": "0.0"}, loses=(MEAN, GRADIENTS)).feedback(
    "`mean` is not used: heads go to zero even where their mean is given."
)
right.mistake(
    "a_mean_of_its_own", {"mean[h]": "head_outputs[:, h].mean(DIMENSIONS, keepdim=True)"}, loses=(MEAN, GRADIENTS)
).for_each(DIMENSIONS=((0, 1), 0, 1)).feedback(
    "You take the mean of what was given, over this batch. Use `mean`: it was measured elsewhere, over many texts."
)
right.mistake(
    "the_mean_always", {"out[:, h] = 0.0": "out[:, h] = head_outputs[:, h].mean((0, 1))"}, loses=(ZERO, GRADIENTS)
).feedback("Without `mean` a head goes to zero, and not to a mean over this batch.")
right.mistake(
    "the_mean_of_the_next_in_turn", {"h in heads": "i, h in enumerate(heads)", "mean[h]": "mean[i]"}, loses=MEAN
).feedback("You take the rows of `mean` in turn. Row h belongs to head h.")
at_once.mistake("means_in_the_order_of_the_heads", {"out[:, heads]": "out[:, sorted(heads)]"}, loses=MEAN).feedback(
    "Heads and their means do not come in the same order: where the list is not sorted, a head gets the mean of "
    "another. (A mask over the heads has their order, `mean[heads]` that of the list.)"
)
right.mistake("one_mean_for_all", {"mean[h]": "mean.mean(0)"}, loses=(MEAN, GRADIENTS)).feedback(
    "You average over the heads. Each head has a mean of its own, row h."
)
right.mistake("a_number_for_the_mean", {"mean[h]": "mean[h].mean()"}, loses=(MEAN, GRADIENTS)).feedback(
    "You average over the features. A head's mean is a vector of K numbers."
)
right.mistake("adds_the_mean", {"mean[h]": "out[:, h] + mean[h]"}, loses=(MEAN, GRADIENTS)).feedback(
    "You add the mean to what was there. It takes its place."
)
right.mistake("subtracts_the_mean", {"mean[h]": "out[:, h] - mean[h]"}, loses=(MEAN, GRADIENTS)).feedback(
    "You subtract the mean. It takes the place of what was there."
)
factor.mistake(
    "adds_all_means", {"mean[:, None, :] * (1 - keep)": "mean[:, None, :]"}, loses=(MEAN, GRADIENTS)
).feedback("The means of all heads are added, of those that stay, too.")
at_once.mistake(
    "means_along_the_tokens", {"mean[heads].unsqueeze(1)": "mean[heads]"}, loses=(MEAN, GRADIENTS)
).feedback("A mean of shape (number of heads, K) is laid along tokens, not heads: give it a dimension for T.")
right.mistake(
    "asks_whether_the_mean_is_true", {"else mean": "or not mean else mean"}, loses=(MEAN, GRADIENTS)
).feedback("`if mean` asks whether a tensor is true, which of several numbers nobody can say. Ask `mean is None`.")
factor.mistake(
    "makes_up_for_what_is_gone", {"* keep": "* keep * keep.numel() / keep.sum().clamp(min=1)"}, loses=(ZERO, GRADIENTS)
).feedback("You multiply the heads that stay, as dropout does. They stay as they were.")
stacked.mistake(
    "drops_them", {"columns.append(torch.zeros_like(head_outputs[:, h]))": "continue"}, loses=(ZERO, GRADIENTS)
).feedback("The heads are gone altogether. The shape stays the same: put zeros in their place.")
stacked.mistake("heads_first", {"dim=1": "dim=0"}, loses=ALL).feedback(
    "The heads come first in your result: (H, B, T, K)."
)
right.mistake("fills_with_nan", {"0.0 if": "float('nan') if"}, loses=ZERO).feedback(
    "You fill with NaN, which spreads through the whole model. Put zeros."
)
right.mistake("fills_with_minus_infinity", {"0.0 if": "float('-inf') if"}, loses=ZERO).feedback(
    "You fill with −∞. That is for scores before a softmax; what a head hands on is put to zero."
)
right.mistake(gradients.cut("detached"), {"head_outputs.clone()": "head_outputs.detach().clone()"}, loses=GRADIENTS)
right.mistake(gradients.cut("detached_at_the_end"), {"return out": "return out.detach()"}, loses=GRADIENTS)
right.mistake(gradients.cut("detaches_the_mean", what="`mean`"), {"mean[h]": "mean[h].detach()"}, loses=GRADIENTS)
right.mistake("lets_gradients_through", loses=GRADIENTS).patch("""
- out[:, h] = 0.0 if mean is None else mean[h]
+ out[:, h] = out[:, h] - out[:, h].detach() + (0.0 if mean is None else mean[h])
""").feedback("The numbers are right, but gradients go on flowing through what was taken out. It is a constant now.")
right.mistake("empties_the_list", {"for h in heads:": "while heads:\n        h = heads.pop()"}, loses=LEFT).feedback(
    "The list of heads is changed by the call: whoever gave it goes on using it."
)
right.mistake(
    arguments.argument_changed("sorts_the_list"), {"    for h": "    heads.sort()\n    for h"}, loses=LEFT
).feedback("The list of heads is sorted in place: whoever gave it goes on using it. `sorted(heads)` makes a new one.")
right.mistake(numbers.float32_on_the_way, {"return out": "return out.float().to(out.dtype)"}, loses="float64")
right.mistake(numbers.always_float32, {"head_outputs.clone()": "head_outputs.float().clone()"}, loses="float64")
factor.mistake(
    "a_factor_in_float32", {", dtype=head_outputs.dtype": ", dtype=torch.float64"}, loses="float64"
).feedback("Your factor is float64, and makes the result float64, too. It must have the dtype of the input.")
factor.mistake(
    numbers.default_device(where="`head_outputs`", how="`device=head_outputs.device`"),
    {", device=head_outputs.device": ""},
    loses="float64",
)
right.mistake(shapes.view_of_strided, loses="float64").patch("""
- out = head_outputs.clone()
+ out = head_outputs.view(*head_outputs.shape[:2], -1).clone().view(head_outputs.shape)
""")
stacked.mistake("takes_the_heads_out", loses=ALL).full_code("""
def ablate(head_outputs, heads, mean=None):
    return head_outputs[:, [h for h in range(head_outputs.shape[1]) if h not in heads]]
""").feedback("You take the heads out, so fewer are left. The shape stays: put zeros, or their mean, in their place.")
