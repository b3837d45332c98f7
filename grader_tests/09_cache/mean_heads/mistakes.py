"""Known mistakes in `mean_heads`."""

from ...shared.families import arguments, gradients, numbers, shapes
from .contract import mean_heads

MEANS = "means"
FORMS = (  # ways to cut the rows, each with an error of its own where that cannot be
    "reshape(n_groups, n_heads // n_groups, len(weight) // n_heads, weight.shape[1])",
    "reshape(n_groups, n_heads // n_groups, len(weight) // n_heads, -1)",
    "reshape(n_groups, n_heads // n_groups, -1, weight.shape[1])",
    "unflatten(0, (n_groups, n_heads // n_groups, -1))",
)
CUT = "unflatten(0, (n_groups, n_heads // n_groups, -1))"

right = mean_heads.reference_answer("""
def mean_heads(weight, n_heads, n_groups):
    if n_heads < 1 or n_groups < 1:
        raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}: both are at least 1")
    if weight.shape[0] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, and weight is {tuple(weight.shape)}")
    if n_heads % n_groups:
        raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
    return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)
""")

right.mistake("sums", {".mean(1)": ".sum(1)"}, loses=MEANS).feedback(
    "You add up the heads of a group. Take their mean, so that keys keep their size."
)
right.mistake(shapes.squeezed, {".flatten(0, 1)": ".flatten(0, 1).squeeze(DIM)"}, loses=MEANS).for_each(
    DIM=(0, 1)
).feedback(
    "You use `squeeze`, which removes a dimension of size 1 that belongs to the result. A single row or a single "
    "column must stay."
)
right.mistake(
    numbers.default_device(what="the means", where="the weight", how="`weight.new_empty(…)` does"),
    {
        "    return weight": "    K = len(weight) // n_heads\n"
        "    return torch.zeros(n_groups * K, weight.shape[1], dtype=weight.dtype).add_(weight",
        ".flatten(0, 1)": ".flatten(0, 1))",
    },
    loses="gradients",
)
right.mistake("takes_the_first_head", {".mean(1)": "[:, 0]"}, loses=MEANS).feedback(
    "You use only the first head of each group and drop the others. Take the mean of all of them."
)
right.mistake("takes_the_last_head", {".mean(1)": "[:, -1]"}, loses=MEANS).feedback(
    "You use only the last head of each group and drop the others. Take the mean of all of them."
)
right.mistake("divides_by_another_number", {".mean(1)": ".sum(1).div(NUMBER)"}, loses=MEANS).for_each(
    NUMBER=("n_groups", "n_heads")
).feedback("You divide the sum of a group by a number other than the number of its heads. A group has H / G heads.")
right.mistake(
    "the_mean_of_all", {".mean(1)": ".mean((0, 1), keepdim=True)[0].expand(n_groups, -1, -1)"}, loses=MEANS
).feedback("You use the mean of all heads for every group. Each group has its own heads, H / G that follow each other.")
right.mistake("deals_heads_out_in_turn", loses=MEANS).patch("""
- return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)
+ return weight.unflatten(0, (n_heads // n_groups, n_groups, -1)).mean(0).flatten(0, 1)
""").feedback(
    "You deal the heads out in turn: with two groups, the even ones and the odd ones. A group consists of heads that "
    "follow each other, since head h reads group h // (H / G)."
)
right.mistake("averages_within_a_head", loses=MEANS).patch("""
- return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)
+ return weight.unflatten(0, (n_groups, -1, n_heads // n_groups)).mean(2).flatten(0, 1)
""").feedback(
    "You average rows that follow each other, which belong to one head. The rows of a head are next to each other; "
    "the mean is over heads."
)
right.mistake(
    "repeats_the_means",
    {".mean(1)": ".mean(1, keepdim=True).expand(-1, n_heads // n_groups, -1, -1).flatten(0, 1)"},
    loses=MEANS,
).feedback(
    "You give every head the mean of its group, so there are as many rows as before. There should be one mean for "
    "each group."
)
right.mistake(
    "groups_for_heads_of_a_group", {"n_groups, n_heads // n_groups": "n_heads // n_groups, n_groups"}, loses=MEANS
).feedback("You use `n_groups` as the number of heads in a group. It is the number of groups.")
right.mistake("averages_columns", {".mean(1).flatten(0, 1)": ".mean(-1).flatten(0, 1)"}, loses=MEANS).feedback(
    "You average over the columns, which belong to the input. Average over the heads of a group."
)
right.mistake("averages_another_dimension", {".mean(1)": ".mean(DIM)"}, loses=MEANS).for_each(DIM=(0, 2)).feedback(
    "You average over the wrong dimension, the groups or the rows of a head. Of (groups, heads of a group, rows of a "
    "head), average over the second."
)
right.mistake(
    "width_from_the_columns",
    {CUT: "reshape(n_groups, n_heads // n_groups, weight.shape[1] // n_heads, weight.shape[1])"},
    loses=MEANS,
).feedback("You compute the width of a head from the columns. The heads share the rows, H * K of them.")
mean_heads.alternative("group_by_group").mistake(
    "groups_that_overlap", {"heads[g * size : (g + 1) * size]": "heads[g : g + size]"}, loses=MEANS
).feedback("Your groups overlap: each begins one head after the last one. Group g begins at head g * H / G.")
right.mistake(
    "exchanges_heads_and_groups", {"weight, n_heads, n_groups)": "weight, n_groups, n_heads)"}, loses=MEANS
).feedback("You have the arguments in the wrong order: `n_heads` comes before `n_groups`.")
right.mistake(
    arguments.valid_refused("refuses_one_group_or_all"), {"n_groups:": "n_groups or n_groups == REFUSED:"}, loses=MEANS
).for_each(REFUSED=(1, "n_heads")).feedback(
    "You refuse a single group, or one group for every head. Both are allowed: the result is the mean of all heads, "
    "or the heads as they are."
)
right.mistake("leaves_three_dimensions", {".flatten(0, 1)": ""}, loses=MEANS).feedback(
    "You return three dimensions, (G, K, D). Put the groups' rows one after another: (G * K, D)."
)
right.mistake(arguments.unchecked("any_groups"), loses="ValueError").patch("""
- if n_heads % n_groups:
-     raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
+ n_groups = min(n_groups, n_heads)
+ while n_heads % n_groups:
+     n_groups -= 1
""").feedback("You raise no error where `n_groups` does not divide `n_heads`, and silently use another number.")
right.mistake(arguments.unchecked("any_heads"), loses="ValueError").patch("""
- if weight.shape[0] % n_heads:
-     raise ValueError(f"n_heads is {n_heads}, and weight is {tuple(weight.shape)}")
+ weight = weight[: len(weight) // n_heads * n_heads]
""").feedback("You raise no error where the rows cannot be divided among the heads, and silently drop some.")
right.mistake(
    "divides_the_wrong_way", {"if n_heads % n_groups": "if n_groups % n_heads"}, loses=(MEANS, "ValueError")
).feedback(
    "You check whether `n_heads` divides `n_groups`. It is the other way round: n_groups divides n_heads, which is "
    "larger."
)
right.mistake(
    "shares_out_the_columns", {"if weight.shape[0] % n_heads": "if weight.shape[1] % n_heads"}, loses="ValueError"
).feedback("You check whether `n_heads` divides the columns. The heads share the rows.")
right.mistake(arguments.asserts("n_groups")("asserts"), loses="ValueError")
right.mistake(
    arguments.unchecked("leaves_groups_to_pytorch"),
    {"if n_heads % n_groups": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "You do not check whether `n_groups` divides `n_heads`. PyTorch's own error comes from deep inside, if at all: "
    "raise a ValueError that names the number that does not divide, and its value."
)
right.mistake(
    arguments.unchecked("leaves_heads_to_pytorch"),
    {"if weight.shape[0] % n_heads": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "You do not check whether `n_heads` divides the rows. PyTorch's own error comes from deep inside, if at all: "
    "raise a ValueError that names the number that does not divide, and its value."
)
right.mistake(
    arguments.unchecked("leaves_it_to_pytorch"),
    {"if weight.shape[0] % n_heads": "if False", "if n_heads % n_groups": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "You do not check whether the numbers divide. PyTorch's own error comes from deep inside, if at all: raise a "
    "ValueError that names the number that does not divide, and its value."
)
right.mistake(arguments.zero_divides, loses="ValueError").patch("""
- if n_heads < 1 or n_groups < 1:
-     raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}: both are at least 1")
""")
right.mistake(
    arguments.unchecked("takes_negative_numbers"),
    {"if n_heads < 1 or n_groups < 1": "if n_heads * n_groups == 0"},
    loses="ValueError",
).feedback("You refuse 0 but accept negative numbers. Both numbers must be at least 1: there cannot be -2 groups.")
right.mistake(arguments.asserts("weight")("asserts_heads"), loses="ValueError")
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(gradients.cut(what="the weight"), {"weight.unflatten": "weight.detach().unflatten"}, loses="gradients")
right.mistake("adds_up_in_place", {f"weight.{CUT}.mean(1).flatten(0, 1)": "SUM"}, loses="gradients").for_each(
    SUM=(
        f"sum(weight.div_(n_heads // n_groups).{CUT}.unbind(1)).flatten(0, 1)",
        f"weight.{CUT}[:, 0].mul_(0).add_(weight.{CUT}.mean(1)).flatten(0, 1)",
    )
).feedback("You write into the weights that you were given, or into a part of them. Work on new tensors.")
right.mistake(
    numbers.always_float32(of="the weight"), {"weight.unflatten": "WEIGHT.unflatten"}, loses="gradients"
).for_each(WEIGHT=("weight.float()", "torch.zeros(weight.shape).add_(weight)"))
right.mistake(
    "averages_all_rows_of_a_group",
    {f"{CUT}.mean(1).flatten(0, 1)": "unflatten(0, (n_groups, -1)).mean(1)"},
    loses=MEANS,
).feedback(
    "You average all rows of a group, so only one row for each group is left. A group keeps K rows: each is the mean "
    "of the same row in its heads."
)
