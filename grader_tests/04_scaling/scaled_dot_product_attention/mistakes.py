"""Known mistakes in `scaled_dot_product_attention`."""

from ...shared.families import arguments, calls, gradients, numbers, results, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import scaled_dot_product_attention

EVERYWHERE = ("the default", "any leading")  # what an answer loses whose every result is wrong
SHIPPED = "A bug that shipped (extra)"

right = scaled_dot_product_attention.reference_answer("""
def scaled_dot_product_attention(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights
""")

right.mistake("not_scaled_by_default", loses=EVERYWHERE).patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * (1.0 if scale is None else scale)
+ weights = torch.softmax(scores, dim=-1)
""").feedback(
    "You do not scale the scores when `scale` is None. The wider the vectors, the more the scores spread. The "
    "default factor must compensate for that."
)
right.mistake("made_for_a_width_of_64", loses=EVERYWHERE).patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * (SCALE if scale is None else scale)
+ weights = torch.softmax(scores, dim=-1)
""").for_each(SCALE=(0.125, "128**-0.5", "32**-0.5", "512**-0.5", 0.1)).feedback(
    "Your default scale is a fixed number, such as 1/8, which is right only for vectors of width 64. Compute it "
    "from the width of the vectors that you get."
)
scaled_dot_product_attention.mistake("blocks_the_future", loses=EVERYWHERE).full_code("""
def scaled_dot_product_attention(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    weights = torch.softmax(scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf")), dim=-1)
    return weights @ value, weights
""").feedback("You block the future, as a language model does. Here every query sees every key.")
right.mistake(scores.keys_times_queries, loses=EVERYWHERE).patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = key @ query.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
+ weights = torch.softmax(scores, dim=-1)
""")
right.mistake("divided_by_the_width", {"query.shape[-1] ** -0.5": "1 / query.shape[-1]"}, loses=EVERYWHERE).feedback(
    "You divide the scores by the width itself instead of its square root. The scores become too small, and the "
    "weights too equal.",
    see="3. Root or width?",
)
right.mistake("multiplied_by_the_root", {"-0.5": "0.5"}, loses=EVERYWHERE).feedback(
    "You *multiply* the scores by the square root of the width instead of dividing by it. Wide scores become wider "
    "still: Dk times too large.",
)
right.mistake("by_the_number_of_keys", {"query.shape[-1]": "key.shape[-2]"}, loses=EVERYWHERE).feedback(
    "You scale by the number of keys instead of the width. A score is a sum over the *width*; its size does not "
    "depend on how many other scores there are."
)
right.mistake("by_the_width_of_the_values", {"query.shape": "value.shape"}, loses=EVERYWHERE).feedback(
    "You scale by the width of the values, which play no part in the scores."
)
right.mistake("by_dimension_one", {"[-1]": "[1]"}, loses="any leading", clause="leading").feedback(
    "You take dimension 1 for the width, which is right only without a batch. Count dimensions from the end."
)
right.mistake("by_the_width_of_the_model", loses="any leading").patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
+ heads = query.shape[-3] if query.ndim > 2 else 1
+ scale = (heads * query.shape[-1]) ** -0.5 if scale is None else scale
""").feedback(
    "You scale by the width of the whole model, the number of heads times Dk. This is the most common mistake of "
    "all. Use the width of the queries that you are given.",
    see=SHIPPED,
)
right.mistake("zero_taken_for_none", loses="a scale", clause="zero").patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
+ scale = scale or query.shape[-1] ** -0.5
""").feedback(
    "You treat `scale=0.0` as if no scale were given. In Python 0.0 counts as false, so `scale or …` skips it. "
    "Only None means the default.",
)
scaled_dot_product_attention.mistake("scale_not_used", loses=("a given", "a scale")).full_code("""
def scaled_dot_product_attention(query, key, value, scale=None):
    weights = torch.softmax(query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5, dim=-1)
    return weights @ value, weights
""").feedback("You ignore the argument `scale`.")
right.mistake("divided_by_the_scale", loses=("a given", "a scale")).patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ divisor = query.shape[-1] ** 0.5 if scale is None else scale
+ weights = torch.softmax(query @ key.transpose(-2, -1) / divisor, dim=-1)
""").feedback("You *divide* the scores by the given scale. The scale is a factor: 0.5 makes the scores half as large.")
right.mistake("both_scales", loses="a given", clause="given").patch("""
- scale = query.shape[-1] ** -0.5 if scale is None else scale
+ scale = (1.0 if scale is None else scale) * query.shape[-1] ** -0.5
""").feedback("You apply the given scale in addition to the default one. A given scale replaces the default.")
right.mistake("both_sides_scaled", loses=("the default", "a given")).patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ weights = torch.softmax((query * scale) @ (key * scale).transpose(-2, -1), dim=-1)
""").feedback(
    "You apply the scale twice, to the queries and to the keys. Their product then contains its square.",
)
right.mistake("scaled_after_the_softmax", loses=("the default", "a given", "a scale")).patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1) * scale
""").feedback(
    "You scale after the softmax instead of before it. The weights stay as sharp as without a scale, and they no "
    "longer sum to 1.",
)
right.mistake("softmax_over_the_queries", {"dim=-1": "dim=-2"}, loses=EVERYWHERE).feedback(
    "Your softmax runs over the queries, so each *column* of your weights sums to 1. Each query distributes its "
    "weight over the keys, the last dimension."
)
right.mistake(shapes.all_dimensions_reversed(what="key"), loses="any leading").patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ weights = torch.softmax(query @ key.permute(*reversed(range(key.ndim))) * scale, dim=-1)
""")
scaled_dot_product_attention.mistake(results.scores_for_weights, loses=("the default", "a given")).full_code("""
def scaled_dot_product_attention(query, key, value, scale=None):
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    return torch.softmax(scores, dim=-1) @ value, scores
""")
scaled_dot_product_attention.mistake(results.output_alone, loses=EVERYWHERE).full_code("""
def scaled_dot_product_attention(query, key, value, scale=None):
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    return torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1) @ value
""")
right.mistake(results.weights_first, {"weights @ value, weights": "weights, weights @ value"}, loses=EVERYWHERE)
right.mistake(
    gradients.cut(what="the query and the key"), {"=-1)": "=-1).detach()"}, loses="gradients", clause="gradients"
)
right.mistake(
    arguments.argument_changed(what="the query"),
    {"scale = query": "query *= query", "transpose(-2, -1) * scale": "transpose(-2, -1)"},
    loses=("gradients", "arguments"),
    clause="purity",
)
right.mistake(numbers.exponentials_overflow, loses="large", clause="large").patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ weights = (query @ key.transpose(-2, -1) * scale).exp()
+ weights = weights / weights.sum(dim=-1, keepdim=True)
""")
right.mistake("one_maximum_for_all_rows", loses="large").patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * scale
+ weights = (scores - scores.max()).exp()
+ weights = weights / weights.sum(dim=-1, keepdim=True)
""").feedback(
    "You subtract one maximum for the whole tensor, so rows with much smaller scores become NaN. Each row needs "
    "its own maximum."
)
keeps_its_last_result(right, loses="the default")
right.mistake(scores.power_divided, {"query.shape[-1] ** -0.5": "(SCALE)"}, loses=EVERYWHERE).for_each(
    SCALE=("query.shape[-1] ** -1 / 2", "2 / query.shape[-1]")
)
right.mistake(
    shapes.reshaped_keys, {"key.transpose(-2, -1)": "key.VIEW(*key.shape[:-2], *key.shape[:-3:-1])"}, loses=EVERYWHERE
).for_each(VIEW=("reshape", "view"))
right.mistake(scores.softmax_over_everything, loses=EVERYWHERE).patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * scale
+ weights = torch.softmax(scores.flatten(), dim=0).view(scores.shape)
""")
right.mistake("by_the_root_of_the_number_of_queries", {"shape[-1]": "shape[-2]"}, loses=EVERYWHERE).feedback(
    "You divide the scores by the square root of the number of queries. Scores grow with the *width* of the vectors."
)
right.mistake("by_the_fourth_root", {"-0.5": "-0.25"}, loses=EVERYWHERE).feedback(
    "You divide the scores by the *fourth* root of the width. That is right if you divide both queries and keys by "
    "it. If you divide their product once, use the square root."
)
right.mistake(shapes.dimensions_from_the_front, {"dim=-1": "dim=1"}, loses="any leading")
right.mistake("takes_zero_for_blocked", loses=("the default", "a scale")).patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * scale
+ weights = torch.softmax(scores.masked_fill(scores == 0, float("-inf")), dim=-1)
""").feedback("You treat a score of exactly 0 as blocked. It is a score like any other, and no key is blocked here.")
right.mistake(
    "default_for_negative_scales", {"is None": "is None or scale <= 0"}, loses=("a given", "a scale")
).feedback(
    "You replace a scale of 0 or less by the default. Any given number is the factor; only None means the default."
)
right.mistake("maximum_before_the_scale", loses="a given").patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1)
+ weights = ((scores - scores.amax(dim=-1, keepdim=True)) * scale).exp()
+ weights = weights / weights.sum(dim=-1, keepdim=True)
""").feedback(
    "You subtract the largest score before you scale. With a negative scale it becomes the smallest score, and the "
    "exponentials of the others overflow."
)
right.mistake(numbers.float32_on_the_way(what="the weights"), loses="float64", clause="dtype").patch("""
- weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
+ scores = query @ key.transpose(-2, -1) * scale
+ weights = torch.softmax(scores.float(), dim=-1).to(query.dtype)
""")
right.mistake(
    "by_a_whole_root", {"query.shape[-1] ** -0.5": "1 / int(query.shape[-1] ** 0.5)"}, loses=EVERYWHERE
).feedback(
    "You round the square root of Dk down to a whole number (`int`, `//`, `math.isqrt`). That is right only if Dk is "
    "a square, such as 16 or 64."
)
scaled_dot_product_attention.mistake(calls.result_remembered("keeps_the_first_default"), loses=EVERYWHERE).full_code("""
default = None


def scaled_dot_product_attention(query, key, value, scale=None):
    global default
    if scale is None:
        scale = default = query.shape[-1] ** -0.5 if default is None else default
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale, dim=-1)
    return weights @ value, weights
""").feedback(
    "You keep the default scale of the first call and use it again for vectors of another width. Compute it from "
    "the vectors of each call."
)
scaled_dot_product_attention.mistake("lines_of_lesson_0", loses=("any leading", "a given", "a scale")).full_code("""
def scaled_dot_product_attention(query, key, value, scale=None):
    scores = query @ key.permute(*reversed(range(key.ndim))) / query.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
""").feedback(
    "These are the lines of lesson 0, made for one sentence and one scale. `.T` reverses all dimensions of a batch, so "
    "swap the last two alone, and let a given `scale` replace the root."
)
right.mistake(
    numbers.default_device(where="the query"),
    {"query.shape[-1] ** -0.5": "torch.full((1,), float(query.shape[-1])) ** -0.5"},
    loses="float64",
    clause="device",
)
