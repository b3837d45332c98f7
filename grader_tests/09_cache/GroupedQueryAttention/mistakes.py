"""Known mistakes in `GroupedQueryAttention`."""

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

right.mistake(
    "groups_in_turn",
    {"x.repeat_interleave(self.n_heads // self.n_groups, dim=1)": "x.repeat(1, self.n_heads // self.n_groups, 1, 1)"},
    loses=SHARED,
).feedback(
    "Keys and values are repeated as a whole, so that heads take the groups in turn. Heads that follow each other "
    "share a group: head h reads group h // (H / G). That is `repeat_interleave`, not `repeat`."
)
right.mistake(
    "groups_by_the_wrong_divisor",
    {
        "x.repeat_interleave(self.n_heads // self.n_groups, dim=1)": "x[:, [min(h // self.n_groups, "
        "self.n_groups - 1) for h in range(self.n_heads)]]"
    },
    loses=SHARED,
).feedback("Head h reads group h // G here. H / G heads share a group: it is h // (H / G).")
right.mistake("keys_in_turn", IN_TURN | {"key = self.share(": "key = self.in_turn("}, loses=SHARED).feedback(
    "Keys are repeated as a whole, and values head by head: a head reads the keys of one group, and another's values."
)
right.mistake("values_in_turn", IN_TURN | {"value = self.share(": "value = self.in_turn("}, loses=SHARED).feedback(
    "Values are repeated as a whole, and keys head by head: a head reads the keys of one group, and another's values."
)
right.mistake(
    "one_group_for_all",
    {"x.repeat_interleave(self.n_heads // self.n_groups, dim=1)": "x[:, :1].expand(-1, self.n_heads, -1, -1)"},
    loses=SHARED,
).feedback("All heads read the first group, and the others are never read.")
right.mistake(
    "averages_the_groups",
    {
        "x.repeat_interleave(self.n_heads // self.n_groups, dim=1)": "x.mean(1, keepdim=True).expand(-1, "
        "self.n_heads, -1, -1)"
    },
    loses=SHARED,
).feedback("All heads read the mean of the groups. Each group has keys and values of its own, for its own heads.")
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
    "The matrices of keys and values have as many rows as that of the queries. With fewer heads they are smaller, "
    "which is what the cache gains."
)
right.mistake(
    "as_many_rows_as_groups", {"few = d_model // n_heads * n_groups": "few = n_groups"}, loses="its parameters"
).feedback("A group is as wide as a head, K numbers. The matrices of keys and values have G * K rows, not G.")
right.mistake(
    "groups_of_so_many_heads",
    {"few = d_model // n_heads * n_groups": "few = d_model // n_groups"},
    loses="its parameters",
).feedback("Here `n_groups` is how many heads share one group. It is how many groups there are: G * K rows.")
right.mistake("unscaled", {"key.mT / query.shape[-1] ** 0.5": "key.mT"}, loses=ALL).feedback(
    "The scores are not scaled: divide them by the root of a head's width."
)
right.mistake("scaled_by_the_width", {"query.shape[-1] ** 0.5": "query.shape[-1]"}, loses=ALL).feedback(
    "The scores are divided by the width of a head itself. It is its root that keeps their spread at 1."
)
right.mistake("scaled_by_the_model_width", {"query.shape[-1] **": "x.shape[-1] **"}, loses=SHARED).feedback(
    "The scores are divided by the root of the model's width. Each head's queries and keys are D / H numbers long."
)
right.mistake(
    "scaled_by_the_width_of_all_groups", {"query.shape[-1] **": "self.W_k.out_features **"}, loses=SHARED
).feedback("The scores are divided by the root of G * K. It is the width of one head that counts, K.")
right.mistake(
    "shares_keys_only",
    {
        "value = self.share(self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2))": "value = "
        "self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2)[:, :1]"
    },
    loses=SHARED,
).feedback("All heads read the first group's values. Values are shared as keys are, each group by its own heads.")
right.mistake("values_by_the_keys_matrix", {"self.W_v(x).unflatten": "self.W_k(x).unflatten"}, loses=ALL).feedback(
    "The values are made with W_k. They have a matrix of their own, W_v."
)
right.mistake(
    "no_output_matrix",
    {"self.W_o((weights @ value).transpose(1, 2).flatten(2))": "(weights @ value).transpose(1, 2).flatten(2)"},
    loses=ALL,
).feedback("W_o is missing: what the heads found is only put side by side, and not mixed.")
right.mistake(
    "cut_by_a_view",
    {
        "query = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": "query = "
        "self.W_q(x).reshape(len(x), self.n_heads, x.shape[1], -1)"
    },
    loses=ALL,
).feedback(
    "The queries are cut into heads by a reshape alone: it mixes words and heads. Cut the width, then transpose."
)
right.mistake(
    "all_cut_by_a_view",
    {
        "self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)": "self.W_q(x).reshape(len(x), self.n_heads, "
        "x.shape[1], -1)",
        "self.W_k(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2)": "self.W_k(x).reshape(len(x), self.n_groups, "
        "x.shape[1], -1)",
        "self.W_v(x).unflatten(-1, (self.n_groups, -1)).transpose(1, 2)": "self.W_v(x).reshape(len(x), self.n_groups, "
        "x.shape[1], -1)",
    },
    loses=ALL,
).feedback("Heads are cut by a reshape alone: it mixes words and heads. Cut the width, then transpose.")
right.mistake(
    "merged_without_transposing",
    {"(weights @ value).transpose(1, 2).flatten(2)": "(weights @ value).reshape(x.shape)"},
    loses=SHARED,
).feedback("The heads are merged without being transposed back: pieces of several words stand in one row.")
right.mistake(
    "ignores_the_mask", {"device=x.device) if mask is None else mask": "device=x.device)"}, loses="masks"
).feedback("The mask is never used.")
right.mistake("remembers_the_mask", loses="as many groups").patch("""
- blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
+ self.kept = mask = getattr(self, "kept", None) if mask is None else mask
+ blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
""").feedback(
    "Without a mask that of an earlier call is used. Keep nothing from call to call: `mask=None` blocks nothing."
)
right.mistake(
    "causal_without_a_mask",
    {"torch.zeros((), dtype=torch.bool, device=x.device)": "torch.ones_like(query @ key.mT, dtype=torch.bool).triu(1)"},
    loses=ALL,
).feedback("Without a mask the future is blocked. Nothing is: who wants the module causal hands in a causal mask.")
right.mistake("causal_always", loses=(*ALL, "masks")).patch("""
- scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(blocked, float("-inf"))
+ blocked = blocked | torch.ones_like(query @ key.mT, dtype=torch.bool).triu(1)
+ scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(blocked, float("-inf"))
""").feedback("The future is always blocked. Only `mask` blocks: who wants the module causal hands in a causal mask.")
right.mistake(
    "adds_a_dimension_to_the_mask", {"if mask is None else mask": "if mask is None else MASK"}, loses="masks"
).for_each(
    MASK=("mask.unsqueeze(1)", "mask[:, None] if mask.dim() == 3 else mask", "mask.view(1, 1, *x.shape[1:2] * 2)")
).feedback("A dimension is added to the mask. It need not have four; it broadcasts to the scores as it is.")
right.mistake("inverted", {"if mask is None else mask": "if mask is None else ~mask"}, loses="masks").feedback(
    "The mask is inverted: here True means *blocked*."
)
right.mistake("blocked_rows_are_nan", {"softmax(-1).masked_fill(blocked, 0.0)": "softmax(-1)"}, loses="masks").feedback(
    "Rows that are blocked throughout are NaN. They must be 0."
)
right.mistake(
    "blocked_rows_are_means",
    {"softmax(-1).masked_fill(blocked, 0.0)": "softmax(-1)", '.masked_fill(blocked, float("-inf"))': "BLOCK"},
    loses="masks",
).for_each(BLOCK=(".masked_fill(blocked, torch.finfo(x.dtype).min)", " + blocked * -1e9")).feedback(
    "Rows that are blocked throughout get equal weights on all that they may not see. They must be 0."
)
right.mistake(
    "blocked_scores_are_zero",
    {"softmax(-1).masked_fill(blocked, 0.0)": "softmax(-1)", 'float("-inf")': "0.0"},
    loses="masks",
).feedback("Blocked scores become 0, which is a score like any other: its weight is not 0. Blocked is −∞.")
right.mistake(
    "softmax_over_the_queries", {"scores.softmax(-1)": "scores.softmax(-2).nan_to_num(0.0)"}, loses=SHARED
).feedback("The softmax goes over the queries: each column sums to 1, not each row. Look at `dim`.")
right.mistake(
    "masked_after_the_softmax",
    {'.masked_fill(blocked, float("-inf"))': ""},
    loses="masks",
).feedback(
    "The weights are masked after the softmax, so that those of a row no longer sum to 1. Block the scores before it."
)
right.mistake(
    "unblocks_the_mask_it_was_given",
    {"if mask is None else mask": "if mask is None else mask.logical_and_(~mask.all(-1, keepdim=True))"},
    loses="masks",
).feedback("The mask that was handed in is changed in place. Whoever called uses it again: work on a new one.")
right.mistake("softmax_over_the_heads", {"scores.softmax(-1)": "scores.softmax(1)"}, loses=SHARED).feedback(
    "The softmax goes over the heads. Each query's weights over the *keys* sum to 1."
)
right.mistake(
    "weights_of_groups",
    {".flatten(2)), weights": ".flatten(2)), weights[:, :: self.n_heads // self.n_groups]"},
    loses=SHARED,
).feedback("One map of weights for each group is returned. Every head of queries has a map of its own: (B, H, T, T).")
right.mistake("averages_the_weights", {".flatten(2)), weights": ".flatten(2)), weights.mean(1)"}, loses=ALL).feedback(
    "The weights are averaged over the heads, as PyTorch's layer does. Return one map for each head."
)
right.mistake("output_alone", {".flatten(2)), weights": ".flatten(2))"}, loses=ALL).feedback(
    "The output is returned alone. The weights belong to it: (output, weights)."
)
right.mistake("scores_for_weights", {".flatten(2)), weights": ".flatten(2)), scores"}, loses=ALL[:1]).feedback(
    "What is returned beside the output are scores. Return the weights, after the softmax."
)
right.mistake("adds_the_input", {"return self.W_o(": "return x + self.W_o("}, loses=ALL).feedback(
    "x itself is added to the output. That sum stands round the module, where it is used; here the output is asked for."
)
right.mistake(
    "detached_weights", {".flatten(2)), weights": ".flatten(2)), weights.detach()"}, loses="gradients"
).feedback(
    "No gradient flows through the weights that are returned: they were cut off by `detach`, `.data` or `no_grad`."
)
right.mistake(
    "computes_in_float32",
    {
        "(query @ key.mT / query.shape[-1] ** 0.5)": "(query.float() @ key.float().mT / query.shape[-1] ** 0.5)",
        "(weights @ value)": "(weights.to(x.dtype) @ value)",
    },
    loses="float64",
).feedback("The weights are made in float32 whatever comes in: look for `float()`, or for a `dtype` in the softmax.")
right.mistake(
    "exchanges_heads_and_groups", {"d_model, n_heads, n_groups)": "d_model, n_groups, n_heads)"}, loses=SHARED
).feedback(
    "It is asked the other way round: `n_groups` has to divide `n_heads`. Look at the order of the arguments, in which "
    "`n_heads` comes first, and at which of the two stands on which side of `%`."
)
right.mistake(
    "weights_first",
    {
        "return self.W_o((weights @ value).transpose(1, 2).flatten(2)), weights": "return weights, self.W_o((weights"
        " @ value).transpose(1, 2).flatten(2))"
    },
    loses=ALL,
).feedback("The weights come first and the output second. Return (output, weights).")
right.mistake(
    "with_biases",
    {"d_model, bias=False": 'd_model, bias="q" in BIASED', "few, bias=False": 'few, bias="k" in BIASED'},
    loses="its parameters",
).for_each(BIASED=('"q"', '"k"', '"qk"')).feedback("The layers have biases. All four are without: `bias=False`.")
right.mistake(
    "detached_keys", {"self.share(self.W_k(x)": "self.share(self.W_k(x).detach()"}, loses="gradients"
).feedback("No gradient reaches the keys' matrix: it was cut off by `detach`, `.data` or `no_grad`.")
right.mistake(
    "a_mask_on_another_device",
    {"zeros((), dtype=torch.bool, device=x.device)": "zeros(1, 1, dtype=torch.bool)"},
    loses="float64",
).feedback("Without a mask you make one on PyTorch's default device. The input may lie elsewhere.")
right.mistake(
    "an_error_that_does_not_say_what",
    {
        'f"n_heads is {n_heads}, which does not divide d_model, {d_model}"': '"n_heads must divide d_model"',
        'f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}"': '"n_groups must divide n_heads"',
    },
    loses="ValueError",
).feedback(
    "The errors have to say both which argument was wrong and what it was: its name in the signature, and its value."
)
right.mistake("any_groups", {"if n_heads % n_groups": "if False"}, loses="ValueError").feedback(
    "There is no error where `n_groups` does not divide `n_heads`: the heads cannot be shared out."
)
right.mistake("any_heads", {"if d_model % n_heads": "if False"}, loses="ValueError").feedback(
    "There is no error where `n_heads` does not divide `d_model`: the width cannot be cut into heads."
)
right.mistake("asserts", loses="ValueError").patch("""
- if n_heads % n_groups:
-     raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
+ assert n_heads % n_groups == 0, f"n_groups is {n_groups}"
""").feedback("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
right.mistake(
    "refuses_one_group", {"if n_heads % n_groups": "if n_heads % n_groups or n_groups == 1"}, loses=SHARED
).feedback("One group for all heads is refused. It divides every number of heads: that is multi-query attention.")
right.mistake(
    "refuses_as_many_groups_as_heads",
    {"if n_heads % n_groups": "if n_heads % n_groups or n_groups == n_heads"},
    loses="as many groups",
).feedback("As many groups as heads are refused. They are ordinary attention with several heads, and no mistake.")
right.mistake("asserts_heads", loses="ValueError").patch("""
- if d_model % n_heads:
-     raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
+ assert d_model % n_heads == 0, f"n_heads is {n_heads}"
""").feedback("`assert` raises AssertionError (and nothing at all under `python -O`): raise a ValueError.")
