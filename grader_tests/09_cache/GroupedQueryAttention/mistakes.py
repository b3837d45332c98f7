"""Known mistakes in `GroupedQueryAttention`."""

from ...shared.families import arguments, calls, gradients, masks, modules, numbers, results, scores
from .contract import gqa

SHARED = "several heads"  # what an answer loses that shares keys and values wrongly
ALL = (SHARED, "as many groups")
IN_TURN = {  # what repeats groups as a whole
    "    def forward": "    def in_turn(self, x):\n"
    "        return x.repeat(1, self.n_heads // self.n_groups, 1, 1)\n\n"
    "    def forward"
}

right = gqa.reference_answer("""
class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or n_groups < 1:
            raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}: both are at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        if n_heads % n_groups:
            raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
        self.n_heads, self.n_groups = n_heads, n_groups
        few = d_model // n_heads * n_groups
        self.W_q, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(d_model, few, bias=False) for _ in range(2))

    def share(self, x):
        return x.repeat_interleave(self.n_heads // self.n_groups, dim=1)

    def forward(self, x, mask=None):
        query = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        key = self.share(self.W_k(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
        value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
        blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(blocked, float("-inf"))
        weights = scores.softmax(-1).masked_fill(blocked, 0.0)
        return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights
""")

right.mistake("groups_in_turn", {"repeat_interleave(self": "repeat(1, self", "dim=1": "1, 1"}, loses=SHARED).feedback(
    "You let heads take the groups in turn, but heads that follow each other share a group. Head h reads group h // "
    "(H / G). That is `repeat_interleave`, not `repeat`."
)
right.mistake("groups_by_the_wrong_divisor", loses=SHARED).patch("""
- return x.repeat_interleave(self.n_heads // self.n_groups, dim=1)
+ return x[:, [min(h // self.n_groups, self.n_groups - 1) for h in range(self.n_heads)]]
""").feedback("You let head h read group h // G. H / G heads share a group, so it reads group h // (H / G).")
right.mistake("keys_in_turn", IN_TURN | {"key = self.share(": "key = self.in_turn("}, loses=SHARED).feedback(
    "You repeat keys as a whole but values head by head, so a head reads keys of one group and values of another."
)
right.mistake("values_in_turn", IN_TURN | {"value = self.share(": "value = self.in_turn("}, loses=SHARED).feedback(
    "You repeat values as a whole but keys head by head, so a head reads keys of one group and values of another."
)
right.mistake("one_group_for_all", loses=SHARED).patch("""
- return x.repeat_interleave(self.n_heads // self.n_groups, dim=1)
+ return x[:, :1].expand(-1, self.n_heads, -1, -1)
""").feedback("You let all heads read the first group, so the other groups are never read.")
right.mistake("averages_the_groups", loses=SHARED).patch("""
- return x.repeat_interleave(self.n_heads // self.n_groups, dim=1)
+ return x.mean(1, keepdim=True).expand(-1, self.n_heads, -1, -1)
""").feedback(
    "You let all heads read the mean of the groups. Each group has its own keys and values, for its own heads."
)
right.mistake(
    "full_matrices",
    {
        "few, bias": "d_model, bias",
        "few = d_model": "self.few = d_model",
        "value = self.share(self.W_v(x)": "value = self.share(self.W_v(x)[..., : self.few]",
        "key = self.share(self.W_k(x)": "key = self.share(self.W_k(x)[..., : self.few]",
    },
    loses=("its parameters", SHARED),
).feedback(
    "You give the matrices of keys and values as many rows as that of the queries. With fewer heads they are "
    "smaller, which is what makes the cache smaller."
)
right.mistake(
    "as_many_rows_as_groups", {"few = d_model // n_heads * n_groups": "few = n_groups"}, loses="its parameters"
).feedback("You give the matrices of keys and values G rows instead of G * K. A group is as wide as a head, K numbers.")
right.mistake(
    "groups_of_so_many_heads", {"d_model // n_heads * n_groups": "d_model // n_groups"}, loses="its parameters"
).feedback("You use `n_groups` as the number of heads that share a group. It is the number of groups: G * K rows.")
right.mistake(scores.unscaled, {"key.mT / query.shape[-1] ** 0.5": "key.mT"}, loses=ALL)
right.mistake(scores.scaled_by_width, {"query.shape[-1] ** 0.5": "query.shape[-1]"}, loses=ALL)
right.mistake(scores.scaled_by_model_width, {"query.shape[-1] **": "x.shape[-1] **"}, loses=SHARED)
right.mistake(
    "scaled_by_the_width_of_all_groups", {"query.shape[-1] **": "self.W_k.out_features **"}, loses=SHARED
).feedback("You divide the scores by the root of G * K. Only the width of one head counts, K.")
right.mistake(
    "scaled_by_the_groups_width", {"query.shape[-1] **": "(x.shape[-1] // self.n_groups) **"}, loses=SHARED
).feedback(
    "You divide the scores by the root of D / G, as if the width were split among the groups. Queries and keys have "
    "the width of one head, K = D / H."
)
right.mistake("shares_keys_only", loses=SHARED).patch("""
- value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
+ value = self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2)[:, :1]
""").feedback(
    "You let all heads read the first group's values. Values are shared like keys: each group is read by its own heads."
)
right.mistake("values_by_the_keys_matrix", {"self.W_v(x).unflatten": "self.W_k(x).unflatten"}, loses=ALL).feedback(
    "You compute the values with W_k. They have their own matrix, W_v."
)
right.mistake("no_output_matrix", loses=ALL).patch("""
- return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights
+ return (weights @ value).transpose(1, 2).flatten(2), weights
""").feedback("You leave out W_o, so the results of the heads are only put side by side and not mixed.")
right.mistake("cut_by_a_view", loses=ALL).patch("""
- query = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
+ query = self.W_q(x).reshape(len(x), self.n_heads, x.shape[1], -1)
""").feedback(
    "You split the queries into heads by a reshape alone, which mixes words and heads. Split the width, then transpose."
)
right.mistake("all_cut_by_a_view", loses=ALL).patch("""
- query = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
- key = self.share(self.W_k(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
- value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
+ query = self.W_q(x).reshape(len(x), self.n_heads, x.shape[1], -1)
+ key = self.share(self.W_k(x).reshape(len(x), self.n_groups, x.shape[1], -1))
+ value = self.share(self.W_v(x).reshape(len(x), self.n_groups, x.shape[1], -1))
""").feedback(
    "You split queries, keys and values into heads by a reshape alone, which mixes words and heads. Split the width, "
    "then transpose."
)
right.mistake("tokens_and_heads_not_swapped", loses=ALL).patch("""
- return x.repeat_interleave(self.n_heads // self.n_groups, dim=1)
+ return x.repeat_interleave(self.n_heads // self.n_groups, dim=2)
@@
- query = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
- key = self.share(self.W_k(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
- value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))
+ query = self.W_q(x).unflatten(-1, (self.n_heads, -1))
+ key = self.share(self.W_k(x).unflatten(-1, (self.n_groups, -1)))
+ value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)))
@@
- return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights
+ return self.W_o((weights @ value).flatten(2)), weights
""").feedback(
    "You do not swap tokens and heads, so the heads of one token attend to each other. Split the width, then "
    "transpose: (B, T, H, K) becomes (B, H, T, K)."
)
right.mistake("merged_without_transposing", {"transpose(1, 2).flatten(2)": "reshape(x.shape)"}, loses=SHARED).feedback(
    "You merge the heads without transposing them back, so one row holds pieces of several words."
)
right.mistake(masks.ignored, {"device=x.device) if mask is None else mask": "device=x.device)"}, loses="masks")
right.mistake(calls.first_mask_kept("remembers_the_mask"), loses="as many groups").patch("""
+ self.kept = mask = getattr(self, "kept", None) if mask is None else mask
  blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
""").feedback(
    "You use the mask of an earlier call when no mask is given. Keep nothing between calls: `mask=None` blocks nothing."
)
right.mistake("causal_without_a_mask", loses=ALL).patch("""
- blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
+ blocked = torch.ones_like(query @ key.mT, dtype=torch.bool).triu(1) if mask is None else mask
""").feedback(
    "You block the future when no mask is given. Without a mask nothing is blocked: a caller who wants the module "
    "causal passes a causal mask."
)
right.mistake("causal_always", loses=(*ALL, "masks")).patch("""
+ blocked = blocked | torch.ones_like(query @ key.mT, dtype=torch.bool).triu(1)
  scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(blocked, float("-inf"))
""").feedback(
    "You always block the future. Only `mask` blocks: a caller who wants the module causal passes a causal mask."
)
right.mistake("adds_a_dimension_to_the_mask", {"else mask": "else MASK"}, loses="masks").for_each(
    MASK=("mask.unsqueeze(1)", "mask[:, None] if mask.dim() == 3 else mask", "mask.view(1, 1, *x.shape[1:2] * 2)")
).feedback(
    "You add a dimension to the mask, but it broadcasts to the scores as it is. It may have fewer than four dimensions."
)
right.mistake(masks.inverted, {"if mask is None else mask": "if mask is None else ~mask"}, loses="masks")
right.mistake("blocked_rows_are_nan", {"softmax(-1).masked_fill(blocked, 0.0)": "softmax(-1)"}, loses="masks").feedback(
    "Your fully blocked rows are NaN; they must be 0."
)
right.mistake(
    "blocked_rows_are_means",
    {"softmax(-1).masked_fill(blocked, 0.0)": "softmax(-1)", '.masked_fill(blocked, float("-inf"))': "BLOCK"},
    loses="masks",
).for_each(BLOCK=(".masked_fill(blocked, torch.finfo(x.dtype).min)", " + blocked * -1e9")).feedback(
    "You give fully blocked rows equal weights on everything that they may not see; they must be 0."
)
right.mistake(
    masks.blocked_by_small_number, {'float("-inf")': "0.0", "(-1).masked_fill(blocked, 0.0)": "(-1)"}, loses="masks"
)
right.mistake(scores.softmax_over_queries, {"scores.softmax(-1)": "scores.softmax(-2).nan_to_num(0.0)"}, loses=SHARED)
right.mistake(masks.after_softmax, {'.masked_fill(blocked, float("-inf"))': ""}, loses="masks")
right.mistake(
    arguments.argument_changed(what="the mask"),
    {"if mask is None else mask": "if mask is None else mask.logical_and_(~mask.all(-1, keepdim=True))"},
    loses="masks",
)
right.mistake(scores.softmax_over_heads, {"scores.softmax(-1)": "scores.softmax(1)"}, loses=SHARED)
right.mistake(
    "weights_of_groups", {", weights": ", weights[:, :: self.n_heads // self.n_groups]"}, loses=SHARED
).feedback("You return one map of weights for each group. Every head of queries has its own map: (B, H, T, T).")
right.mistake(modules.weights_averaged, {".flatten(2)), weights": ".flatten(2)), weights.mean(1)"}, loses=ALL)
right.mistake(results.output_alone, {".flatten(2)), weights": ".flatten(2))"}, loses=ALL)
right.mistake(results.scores_for_weights, {".flatten(2)), weights": ".flatten(2)), scores"}, loses=ALL[:1])
right.mistake(modules.input_added, {"return self.W_o(": "return x + self.W_o("}, loses=ALL)
right.mistake(gradients.weights_detached, {", weights": ", weights.detach()"}, loses="gradients")
right.mistake(
    numbers.float32_on_the_way("computes_in_float32"),
    {"query @ key": "query.float() @ key.float()", "weights @ value": "weights.to(x.dtype) @ value"},
    loses="float64",
).feedback(
    "You compute the weights in float32 whatever the input's dtype. Look for `float()`, or for a `dtype` in the "
    "softmax."
)
right.mistake("exchanges_heads_and_groups", {"n_heads, n_groups)": "n_groups, n_heads)"}, loses=SHARED).feedback(
    "You check the numbers the wrong way round: `n_groups` must divide `n_heads`. Check the order of the arguments, "
    "in which `n_heads` comes first, and which of the two is on which side of `%`."
)
right.mistake(results.weights_first, {"return self": "return weights, self", ", weights": ""}, loses=ALL)
right.mistake(
    "with_biases",
    {"d_model, bias=False": 'd_model, bias="q" in BIASED', "few, bias=False": 'few, bias="k" in BIASED'},
    loses="its parameters",
).for_each(BIASED=('"q"', '"k"', '"qk"')).feedback(
    "You use layers with biases. All four must be without: `bias=False`."
)
right.mistake(
    gradients.cut(what="the keys' matrix"), {"W_k(x).unflatten": "W_k(x).detach().unflatten"}, loses="gradients"
)
right.mistake(
    numbers.default_device(what="a mask"), {"zeros(()": "zeros(1, 1", "bool, device=x.device": "bool"}, loses="float64"
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(
    arguments.not_refused(
        "You raise no error where `n_groups` does not divide `n_heads`, so the groups would differ in size.", "n_groups"
    )("any_groups"),
    loses="ValueError",
)
right.mistake(
    arguments.not_refused(
        "You raise no error where `n_heads` does not divide `d_model`, so the heads would differ in width.", "d_model"
    )("any_heads"),
    loses="ValueError",
)
right.mistake(arguments.asserts("n_groups")("asserts"), loses="ValueError")
right.mistake(
    arguments.valid_refused("refuses_one_group"), {"n_groups:": "n_groups or n_groups == 1:"}, loses=SHARED
).feedback("You refuse one group for all heads. It divides every number of heads: that is multi-query attention.")
right.mistake(arguments.zero_divides, loses="ValueError").patch("""
- if n_heads < 1 or n_groups < 1:
-     raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}: both are at least 1")
""")
right.mistake(
    arguments.unchecked("takes_negative_numbers"),
    {"if n_heads < 1 or n_groups < 1": "if n_heads * n_groups == 0"},
    loses="ValueError",
).feedback("You refuse 0 but accept negative numbers. Both must be at least 1: there is no module with -2 heads.")
for when, about in (("in training mode", "self.training"), ("with one group", "self.n_groups == 1")):
    right.mistake(
        masks.lost(f"loses_the_mask_{when.replace(' ', '_')}", when=when),
        {"if mask is None else mask": f"if mask is None or {about} else mask"},
        loses="masks",
    )
right.mistake(arguments.valid_refused("refuses_as_many_groups_as_heads"), loses="as many groups").patch("""
- if n_heads % n_groups:
+ if n_heads % n_groups or n_groups == n_heads:
""").feedback("You refuse as many groups as heads, which is allowed: it is ordinary multi-head attention.")
right.mistake(arguments.asserts("d_model")("asserts_heads"), loses="ValueError")
right.mistake("repeats_one_of_the_two", {"value = self.share(": "value = ("}, loses=SHARED).feedback(
    "You repeat only the keys or only the values, so the others still have G heads where the queries have H. Repeat "
    "both for the heads of their group."
)
