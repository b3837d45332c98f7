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
    "The heads of a group are added up. Their mean is wanted, so that keys keep their size."
)
right.mistake(shapes.squeezed, {".flatten(0, 1)": ".flatten(0, 1).squeeze(DIM)"}, loses=MEANS).for_each(
    DIM=(0, 1)
).feedback(
    "`squeeze` removes a dimension of size 1 that belongs to the result: a single row, or a single column, stays."
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
    "Each group is its first head, and the others are dropped. Take the mean of all of them."
)
right.mistake("takes_the_last_head", {".mean(1)": "[:, -1]"}, loses=MEANS).feedback(
    "Each group is its last head, and the others are dropped. Take the mean of all of them."
)
right.mistake("divides_by_another_number", {".mean(1)": ".sum(1).div(NUMBER)"}, loses=MEANS).for_each(
    NUMBER=("n_groups", "n_heads")
).feedback("The sum of a group is divided by another number than it has heads. H / G of them make a group.")
right.mistake(
    "the_mean_of_all", {".mean(1)": ".mean((0, 1), keepdim=True)[0].expand(n_groups, -1, -1)"}, loses=MEANS
).feedback("Every group is the mean of all heads. Each has heads of its own, H / G that follow each other.")
right.mistake("deals_heads_out_in_turn", loses=MEANS).patch("""
- return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)
+ return weight.unflatten(0, (n_heads // n_groups, n_groups, -1)).mean(0).flatten(0, 1)
""").feedback(
    "Heads are dealt out in turn: with two groups, the even ones and the odd ones. A group is made of heads that "
    "follow each other, since head h reads group h // (H / G)."
)
right.mistake("averages_within_a_head", loses=MEANS).patch("""
- return weight.unflatten(0, (n_groups, n_heads // n_groups, -1)).mean(1).flatten(0, 1)
+ return weight.unflatten(0, (n_groups, -1, n_heads // n_groups)).mean(2).flatten(0, 1)
""").feedback(
    "Rows that follow each other are averaged, which belong to one head. The rows of a head stand together, and the "
    "mean goes over heads."
)
right.mistake(
    "repeats_the_means",
    {".mean(1)": ".mean(1, keepdim=True).expand(-1, n_heads // n_groups, -1, -1).flatten(0, 1)"},
    loses=MEANS,
).feedback("Every head got the mean of its group, and there are as many rows as before. There is one for each group.")
right.mistake(
    "groups_for_heads_of_a_group", {"n_groups, n_heads // n_groups": "n_heads // n_groups, n_groups"}, loses=MEANS
).feedback("Here `n_groups` is how many heads a group has. It is how many groups there are.")
right.mistake("averages_columns", {".mean(1).flatten(0, 1)": ".mean(-1).flatten(0, 1)"}, loses=MEANS).feedback(
    "The mean goes over the columns, which belong to the input. It goes over the heads of a group."
)
right.mistake("averages_another_dimension", {".mean(1)": ".mean(DIM)"}, loses=MEANS).for_each(DIM=(0, 2)).feedback(
    "The mean goes over another dimension, groups or the rows of a head. Of (groups, heads of a group, rows of a head) "
    "it is the second that goes."
)
right.mistake(
    "width_from_the_columns",
    {CUT: "reshape(n_groups, n_heads // n_groups, weight.shape[1] // n_heads, weight.shape[1])"},
    loses=MEANS,
).feedback("The width of a head is taken from the columns. It is the rows that heads share, H * K of them.")
mean_heads.alternative("group_by_group").mistake(
    "groups_that_overlap", {"heads[g * size : (g + 1) * size]": "heads[g : g + size]"}, loses=MEANS
).feedback("The groups overlap: each begins one head after the last one. Group g begins at head g * H / G.")
right.mistake(
    "exchanges_heads_and_groups", {"weight, n_heads, n_groups)": "weight, n_groups, n_heads)"}, loses=MEANS
).feedback("The arguments stand in another order: `n_heads` comes before `n_groups`.")
right.mistake(
    arguments.valid_refused("refuses_one_group_or_all"), {"n_groups:": "n_groups or n_groups == REFUSED:"}, loses=MEANS
).for_each(REFUSED=(1, "n_heads")).feedback(
    "A single group, or one for every head, is refused. Both numbers divide: that is a mean of all, or nothing to do."
)
right.mistake("leaves_three_dimensions", {".flatten(0, 1)": ""}, loses=MEANS).feedback(
    "The result has three dimensions, (G, K, D). Put the groups' rows one after another: (G * K, D)."
)
right.mistake(arguments.unchecked("any_groups"), loses="ValueError").patch("""
- if n_heads % n_groups:
-     raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
+ n_groups = min(n_groups, n_heads)
+ while n_heads % n_groups:
+     n_groups -= 1
""").feedback("There is no error where `n_groups` does not divide `n_heads`: another number is taken without a word.")
right.mistake(arguments.unchecked("any_heads"), loses="ValueError").patch("""
- if weight.shape[0] % n_heads:
-     raise ValueError(f"n_heads is {n_heads}, and weight is {tuple(weight.shape)}")
+ weight = weight[: len(weight) // n_heads * n_heads]
""").feedback("There is no error where the rows cannot be shared out among the heads: some are dropped without a word.")
right.mistake(
    "divides_the_wrong_way", {"if n_heads % n_groups": "if n_groups % n_heads"}, loses=(MEANS, "ValueError")
).feedback(
    "Here `n_heads` has to divide `n_groups`. It is the other way round: n_groups divides n_heads, which is larger."
)
right.mistake(
    "shares_out_the_columns", {"if weight.shape[0] % n_heads": "if weight.shape[1] % n_heads"}, loses="ValueError"
).feedback("It is asked whether `n_heads` divides the columns. The rows are what the heads share.")
right.mistake(arguments.asserts("n_groups")("asserts"), loses="ValueError")
right.mistake(
    arguments.unchecked("leaves_groups_to_pytorch"),
    {"if n_heads % n_groups": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "Whether `n_groups` divides `n_heads` is not asked. PyTorch's own error comes from deep within, if at all: raise a "
    "ValueError that names the number that does not divide, and its value."
)
right.mistake(
    arguments.unchecked("leaves_heads_to_pytorch"),
    {"if weight.shape[0] % n_heads": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "Whether `n_heads` divides the rows is not asked. PyTorch's own error comes from deep within, if at all: raise a "
    "ValueError that names the number that does not divide, and its value."
)
right.mistake(
    arguments.unchecked("leaves_it_to_pytorch"),
    {"if weight.shape[0] % n_heads": "if False", "if n_heads % n_groups": "if False", CUT: "FORM"},
    loses="ValueError",
).for_each(FORM=FORMS).feedback(
    "Nothing is compared. PyTorch's own error comes from deep within, if at all: raise a ValueError that names the "
    "number that does not divide, and its value."
)
right.mistake(arguments.zero_divides, loses="ValueError").patch("""
- if n_heads < 1 or n_groups < 1:
-     raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}: both are at least 1")
""")
right.mistake(
    arguments.unchecked("takes_negative_numbers"),
    {"if n_heads < 1 or n_groups < 1": "if n_heads * n_groups == 0"},
    loses="ValueError",
).feedback("0 is refused, and numbers below it are not. There are no -2 groups: both numbers are at least 1.")
right.mistake(arguments.asserts("weight")("asserts_heads"), loses="ValueError")
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(gradients.cut(what="the weight"), {"weight.unflatten": "weight.detach().unflatten"}, loses="gradients")
right.mistake("adds_up_in_place", {f"weight.{CUT}.mean(1).flatten(0, 1)": "SUM"}, loses="gradients").for_each(
    SUM=(
        f"sum(weight.div_(n_heads // n_groups).{CUT}.unbind(1)).flatten(0, 1)",
        f"weight.{CUT}[:, 0].mul_(0).add_(weight.{CUT}.mean(1)).flatten(0, 1)",
    )
).feedback("Numbers are written into the weights that were handed in, or into a part of them. Work on new tensors.")
right.mistake(
    numbers.always_float32(of="the weight"), {"weight.unflatten": "WEIGHT.unflatten"}, loses="gradients"
).for_each(WEIGHT=("weight.float()", "torch.zeros(weight.shape).add_(weight)"))
right.mistake(
    "averages_all_rows_of_a_group",
    {f"{CUT}.mean(1).flatten(0, 1)": "unflatten(0, (n_groups, -1)).mean(1)"},
    loses=MEANS,
).feedback(
    "You average all rows of a group, so that one row per group is left. A group keeps K rows: each is the mean of the "
    "same row in its heads."
)
