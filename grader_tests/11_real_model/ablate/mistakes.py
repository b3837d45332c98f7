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
    "`squeeze` removes a dimension of size 1 that belongs to the result. There may be only one head, or heads of "
    "width 1."
)
right.mistake("in_place", {"head_outputs.clone()": "COPY"}, loses=(GRADIENTS, LEFT)).for_each(
    COPY=(
        "head_outputs",
        "head_outputs.detach()",
        "head_outputs.contiguous()",
        "head_outputs.reshape(head_outputs.shape)",
    )
).feedback("You write into `head_outputs` itself. The caller still needs it unchanged: work on a copy.")
right.mistake(
    arguments.argument_changed("in_place_through_data"),
    {"head_outputs.clone()": "head_outputs", "out[:, h] =": "out.data[:, h] ="},
    loses=(GRADIENTS, LEFT),
).feedback(
    "You write into `head_outputs` itself, through `.data`. Gradients still flow through the heads that you "
    "removed. Work on a copy."
)
right.mistake("the_texts", {"out[:, h] = ": "out[h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You set texts to zero instead of heads. The first dimension counts texts, the second heads."
)
right.mistake("the_tokens", {"out[:, h] = ": "out[:, :, h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You set tokens to zero instead of heads. The second dimension counts heads, the third tokens."
)
right.mistake("the_features", {"out[:, h] = ": "out[..., h] = "}, loses=(ZERO, MEAN, GRADIENTS)).feedback(
    "You set features of all heads to zero. The second dimension counts heads."
)
stacked.mistake("keeps_only_them", {"if h not in heads": "if h in heads"}, loses=ALL).feedback(
    "You keep the listed heads and remove the others. Do the opposite: remove the listed heads and keep the others."
)
right.mistake("only_the_first", {"for h in heads:": "for h in heads[:1]:"}, loses=ALL).feedback(
    "You remove only the first of the listed heads."
)
right.mistake("only_the_last", {"for h in heads:": "for h in heads[-1:]:"}, loses=ALL).feedback(
    "You remove only the last of the listed heads."
)
right.mistake("takes_all_for_none", {"in heads:": "in heads or range(out.shape[1]):"}, loses=ZERO).feedback(
    "You remove all heads if the list is empty. An empty list means that no head is removed."
)
right.mistake("only_the_first_text", {"out[:, h] =": "out[0, h] ="}, loses=ALL).feedback(
    "You remove the heads from the first text only."
)
right.mistake("only_the_last_token", {"out[:, h] =": "out[:, h, -1] ="}, loses=ALL).feedback(
    "You remove the heads at the last token only."
)
right.mistake("stops_after_one", {"    return out": "        return out"}, loses=ALL).feedback(
    "Your `return` is inside the loop, so you remove only one head, and return nothing for an empty list."
)
right.mistake("takes_a_range", {"for h in heads:": "for h in range(len(heads)):"}, loses=ALL).feedback(
    "You remove the first heads, as many as are listed, instead of the listed ones."
)
right.mistake("from_one", {"out[:, h] =": "out[:, h - 1] ="}, loses=ALL).feedback(
    "You count heads from 1. The first one is head 0."
)
right.mistake("forgets_the_mean", {"0.0 if mean is None else mean[h]": "0.0"}, loses=(MEAN, GRADIENTS)).feedback(
    "You do not use `mean`: you set heads to zero even if their mean is given."
)
right.mistake(
    "a_mean_of_its_own", {"mean[h]": "head_outputs[:, h].mean(DIMENSIONS, keepdim=True)"}, loses=(MEAN, GRADIENTS)
).for_each(DIMENSIONS=((0, 1), 0, 1)).feedback(
    "You compute a mean over this batch. Use `mean`: it was measured elsewhere, over many texts."
)
right.mistake(
    "the_mean_always", {"out[:, h] = 0.0": "out[:, h] = head_outputs[:, h].mean((0, 1))"}, loses=(ZERO, GRADIENTS)
).feedback("You use a mean over this batch if `mean` is not given. A head is then set to zero.")
right.mistake(
    "the_mean_of_the_next_in_turn", {"h in heads": "i, h in enumerate(heads)", "mean[h]": "mean[i]"}, loses=MEAN
).feedback("You take the rows of `mean` in turn. Row h belongs to head h.")
at_once.mistake("means_in_the_order_of_the_heads", {"out[:, heads]": "out[:, sorted(heads)]"}, loses=MEAN).feedback(
    "Your heads and means are in different orders: if the list is not sorted, a head gets the mean of another. (A "
    "mask over the heads follows their order, `mean[heads]` follows the list.)"
)
right.mistake("one_mean_for_all", {"mean[h]": "mean.mean(0)"}, loses=(MEAN, GRADIENTS)).feedback(
    "You average over the heads. Each head has its own mean, row h."
)
right.mistake("a_number_for_the_mean", {"mean[h]": "mean[h].mean()"}, loses=(MEAN, GRADIENTS)).feedback(
    "You average over the features. The mean of a head is a vector of K entries."
)
right.mistake("adds_the_mean", {"mean[h]": "out[:, h] + mean[h]"}, loses=(MEAN, GRADIENTS)).feedback(
    "You add the mean to the head's output. Replace the output instead."
)
right.mistake("subtracts_the_mean", {"mean[h]": "out[:, h] - mean[h]"}, loses=(MEAN, GRADIENTS)).feedback(
    "You subtract the mean from the head's output. Replace the output instead."
)
factor.mistake(
    "adds_all_means", {"mean[:, None, :] * (1 - keep)": "mean[:, None, :]"}, loses=(MEAN, GRADIENTS)
).feedback("You add the means of all heads, including those that stay.")
at_once.mistake(
    "means_along_the_tokens", {"mean[heads].unsqueeze(1)": "mean[heads]"}, loses=(MEAN, GRADIENTS)
).feedback(
    "You broadcast the means, (number of heads, K), along the tokens instead of the heads. Give them a dimension for T."
)
right.mistake(
    "asks_whether_the_mean_is_true", {"else mean": "or not mean else mean"}, loses=(MEAN, GRADIENTS)
).feedback("`if mean` fails, because a tensor of several entries is neither true nor false. Test `mean is None`.")
factor.mistake(
    "makes_up_for_what_is_gone", {"* keep": "* keep * keep.numel() / keep.sum().clamp(min=1)"}, loses=(ZERO, GRADIENTS)
).feedback("You scale up the heads that stay, as dropout does. Leave them as they were.")
stacked.mistake(
    "drops_them", {"columns.append(torch.zeros_like(head_outputs[:, h]))": "continue"}, loses=(ZERO, GRADIENTS)
).feedback("You remove the heads from the tensor. The shape stays the same: put zeros in their place.")
stacked.mistake("heads_first", {"dim=1": "dim=0"}, loses=ALL).feedback(
    "You put the heads first: (H, B, T, K). They come second."
)
right.mistake("fills_with_nan", {"0.0 if": "float('nan') if"}, loses=ZERO).feedback(
    "You fill with NaN, which spreads through the whole model. Fill with zeros."
)
right.mistake("fills_with_minus_infinity", {"0.0 if": "float('-inf') if"}, loses=ZERO).feedback(
    "You fill with −∞. This is for scores before a softmax; the output of a head is set to zero."
)
right.mistake(gradients.cut("detached"), {"head_outputs.clone()": "head_outputs.detach().clone()"}, loses=GRADIENTS)
right.mistake(gradients.cut("detached_at_the_end"), {"return out": "return out.detach()"}, loses=GRADIENTS)
right.mistake(gradients.cut("detaches_the_mean", what="`mean`"), {"mean[h]": "mean[h].detach()"}, loses=GRADIENTS)
right.mistake("lets_gradients_through", loses=GRADIENTS).patch("""
- out[:, h] = 0.0 if mean is None else mean[h]
+ out[:, h] = out[:, h] - out[:, h].detach() + (0.0 if mean is None else mean[h])
""").feedback(
    "The numbers are right, but gradients still flow through the heads that you removed. Their output is a constant "
    "now."
)
right.mistake("empties_the_list", {"for h in heads:": "while heads:\n        h = heads.pop()"}, loses=LEFT).feedback(
    "Your function changes the list of heads. The caller still needs it unchanged."
)
right.mistake(
    arguments.argument_changed("sorts_the_list"), {"    for h": "    heads.sort()\n    for h"}, loses=LEFT
).feedback(
    "You sort the list of heads in place. The caller still needs it unchanged; `sorted(heads)` makes a new list."
)
right.mistake(numbers.float32_on_the_way, {"return out": "return out.float().to(out.dtype)"}, loses="float64")
right.mistake(numbers.always_float32, {"head_outputs.clone()": "head_outputs.float().clone()"}, loses="float64")
factor.mistake(
    "a_factor_in_float32", {", dtype=head_outputs.dtype": ", dtype=torch.float64"}, loses="float64"
).feedback("Your factor is float64 and makes the result float64, too. It must have the dtype of the input.")
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
""").feedback(
    "You remove the heads from the tensor, so fewer are left. The shape stays the same: put zeros, or the heads' "
    "means, in their place."
)
