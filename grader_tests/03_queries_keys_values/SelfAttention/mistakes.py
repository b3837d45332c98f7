"""Known mistakes in `SelfAttention`."""

from ...shared.families import arguments, calls, gradients, modules, numbers, results, scores, shapes
from .contract import SelfAttention

SENTENCE, PARAMETERS, BATCHES, FORM = "output and", "its parameters", "batches", "float64"
EVERYWHERE = (SENTENCE, BATCHES)  # what an answer loses whose every result is wrong
NOT_LOADED = (SENTENCE, PARAMETERS)  # what an answer loses whose parameters are others

right = SelfAttention.reference_answer("""
class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_v, bias=False)

    def forward(self, x):
        query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = torch.softmax(query @ key.mT, dim=-1)
        return weights @ value, weights
""")

# What `__init__` makes
right.mistake(modules.super_init_forgotten, loses=NOT_LOADED).patch("""
- super().__init__()
""")
right.mistake("has_biases", loses=PARAMETERS, clause="parameters").patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.W_q = nn.Linear(d_model, d_k)
+ self.W_k = nn.Linear(d_model, d_k)
+ self.W_v = nn.Linear(d_model, d_v)
""").feedback("Your layers have biases. `nn.Linear` makes one unless you pass `bias=False`.")
right.mistake("has_no_parameters_at_first", loses=NOT_LOADED).patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.widths = d_model, d_k, d_v
@@
  def forward(self, x):
+     d_model, d_k, d_v = self.widths
+     self.W_q = nn.Linear(d_model, d_k, bias=False)
+     self.W_k = nn.Linear(d_model, d_k, bias=False)
+     self.W_v = nn.Linear(d_model, d_v, bias=False)
""").feedback(
    "Your module has no parameters when it is made. Layers that `forward` makes are new in each call, and PyTorch does "
    "not look into a plain list, or at plain tensors. Make three `nn.Linear` in `__init__`, as attributes."
)
right.mistake("gives_other_names", loses=NOT_LOADED).patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.query = nn.Linear(d_model, d_k, bias=False)
+ self.key = nn.Linear(d_model, d_k, bias=False)
+ self.value = nn.Linear(d_model, d_v, bias=False)
@@
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ query, key, value = self.query(x), self.key(x), self.value(x)
""").feedback("Your layers have other names. They are called `W_q`, `W_k` and `W_v`, as attributes of the module.")
right.mistake("makes_parameters_without_layers", loses=NOT_LOADED).patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.W_q = nn.Parameter(torch.randn(d_model, d_k))
+ self.W_k = nn.Parameter(torch.randn(d_model, d_k))
+ self.W_v = nn.Parameter(torch.randn(d_model, d_v))
@@
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ query, key, value = x @ self.W_q, x @ self.W_k, x @ self.W_v
""").feedback(
    "Your matrices are parameters, but not layers. Make three `nn.Linear`, whose weights are then called `W_q.weight` "
    "and so on."
)
right.mistake(
    "makes_values_as_wide_as_keys", {"nn.Linear(d_model, d_v": "nn.Linear(d_model, d_k"}, loses=NOT_LOADED
).feedback("You make the values `d_k` wide. They have a width of their own, `d_v`.")
right.mistake("makes_all_as_wide_as_x", loses=NOT_LOADED).patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
""").feedback("All your layers lead back to `d_model`. Queries and keys are `d_k` wide, values `d_v`.")
right.mistake("exchanges_in_and_out", loses=NOT_LOADED).patch("""
- self.W_q = nn.Linear(d_model, d_k, bias=False)
- self.W_k = nn.Linear(d_model, d_k, bias=False)
- self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.W_q = nn.Linear(d_k, d_model, bias=False)
+ self.W_k = nn.Linear(d_k, d_model, bias=False)
+ self.W_v = nn.Linear(d_v, d_model, bias=False)
""").feedback("You exchange the two sizes of each layer. `nn.Linear` takes first what goes in, `d_model`.")
right.mistake("exchanges_the_widths", loses=NOT_LOADED).patch("""
- def __init__(self, d_model, d_k, d_v):
+ def __init__(self, d_model, d_v, d_k):
""").feedback("You exchange `d_k` and `d_v`. The order of the arguments is `d_model`, `d_k`, `d_v`.")
right.mistake("multiplies_the_matrices_at_first", loses=EVERYWHERE).patch("""
  self.W_v = nn.Linear(d_model, d_v, bias=False)
+ self.both = (self.W_q.weight.T @ self.W_k.weight).detach()
@@
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
- weights = torch.softmax(query @ key.mT, dim=-1)
+ value = self.W_v(x)
+ weights = torch.softmax(x @ self.both.to(x) @ x.mT, dim=-1)
""").feedback(
    "You multiply the matrices in `__init__`, where they are still random. Training changes them later: compute in "
    "`forward`."
)

# Who is projected by what
right.mistake("does_not_project", {"self.W_q(x), self.W_k(x), self.W_v(x)": "x, x, x"}, loses=EVERYWHERE).feedback(
    "You attend with `x` itself. Project it first, with the three layers."
)
right.mistake("averages_x", {"return weights @ value": "return weights @ x"}, loses=EVERYWHERE).feedback(
    "You average `x` itself, although your weights are right. The values are `self.W_v(x)`."
)
right.mistake("keys_from_the_query_matrix", {"self.W_k(x)": "self.W_q(x)"}, loses=EVERYWHERE).feedback(
    "You make the keys with `W_q`. Each role has a matrix of its own."
)
right.mistake("queries_from_the_key_matrix", {"= self.W_q(x)": "= self.W_k(x)"}, loses=EVERYWHERE).feedback(
    "Your queries and keys come from one matrix, `W_k`, so attention is mutual. Each role has a matrix of its own."
)
right.mistake("values_from_the_key_matrix", {"self.W_v(x)": "self.W_k(x)"}, loses=EVERYWHERE).feedback(
    "You make the values with `W_k`. Each role has a matrix of its own."
)
right.mistake("exchanges_query_and_key", {"query, key, value =": "key, query, value ="}, loses=EVERYWHERE).feedback(
    "You exchange queries and keys, so your scores are transposed. `W_q` makes the queries, whose scores are the rows."
)
right.mistake("exchanges_key_and_value", {"query, key, value =": "query, value, key ="}, loses=EVERYWHERE).feedback(
    "You exchange keys and values. `W_k` makes what is compared with the queries, `W_v` what is averaged."
)
right.mistake("uses_the_weights_untransposed", loses=EVERYWHERE).patch("""
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ query, key, value = x @ self.W_q.weight, x @ self.W_k.weight, x @ self.W_v.weight
""").feedback(
    "You multiply by a layer's `weight` without transposing it. It is stored as (out, in): call the layer, or multiply "
    "by `weight.T`."
)
right.mistake(gradients.cut("uses_the_weights_detached", what="the three matrices"), loses="gradients").patch("""
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ query, key, value = (x @ layer.weight.detach().mT for layer in (self.W_q, self.W_k, self.W_v))
""")

# Attention
# As `key.T` does, the line of lesson 0
right.mistake(
    shapes.all_dimensions_reversed(what="key"),
    {"key.mT": "key.permute(*reversed(range(key.ndim)))"},
    loses=BATCHES,
    clause="leading",
).feedback(
    "You reverse all dimensions of the keys, those of the batch, too, as `key.T` does. In lesson 0 there was only one "
    "sentence. Call your `attention`, or swap only the last two dimensions."
)
right.mistake("scales_the_scores", {"key.mT": "key.mT / query.shape[-1] ** 0.5"}, loses=EVERYWHERE).feedback(
    "You divide the scores by √Dk. Scaling is lesson 4; here scores are plain dot products."
)
right.mistake(scores.softmax_over_queries, {"dim=-1": "dim=-2"}, loses=EVERYWHERE)
right.mistake(shapes.dimensions_from_the_front, {"dim=-1": "dim=1"}, loses=BATCHES)
right.mistake(scores.softmax_missing, loses=EVERYWHERE).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ weights = query @ key.mT
""")
right.mistake(results.scores_for_weights, {"value, weights": "value, query @ key.mT"}, loses=EVERYWHERE)
right.mistake(results.output_alone, {"weights @ value, weights": "weights @ value"}, loses=EVERYWHERE)
right.mistake(results.weights_first, {"weights @ value, weights": "weights, weights @ value"}, loses=EVERYWHERE)
right.mistake(results.nothing_returned, {"return weights @ value, weights": "weights @ value"}, loses=EVERYWHERE)
right.mistake("averages_by_the_other_dimension", {"weights @ value": "weights.mT @ value"}, loses=EVERYWHERE).feedback(
    "You transpose the weights before you multiply them with the values. They have one row per query, as the output "
    "has."
)
right.mistake("hides_the_future", loses=EVERYWHERE).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ scores = query @ key.mT
+ later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
+ weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
""").feedback("You hide later words from each query. A causal mask is lesson 5; here every word sees every word.")
right.mistake("takes_one_batch_only", loses=SENTENCE).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
- return weights @ value, weights
+ weights = torch.softmax(torch.bmm(query, key.transpose(1, 2)), dim=-1)
+ return torch.bmm(weights, value), weights
""").feedback(
    "Your module takes exactly three dimensions. It must also work for one sentence and for two leading dimensions."
)
right.mistake(
    shapes.squeezed,
    {"weights @ value, weights": "(weights @ value).squeeze(), weights.squeeze()"},
    loses="one word",
    clause="single",
)
right.mistake(
    gradients.cut("detaches_the_scores", what="`W_q` and `W_k`"),
    {"query @ key.mT": "(query @ key.mT).detach()"},
    loses="gradients",
)
right.mistake(gradients.weights_detached, {"value, weights": "value, weights.detach()"}, loses="gradients")
right.mistake(calls.result_remembered, loses="each call", clause="moment").patch("""
  def forward(self, x):
+     if getattr(self, "kept", None) is not None and self.kept[0].shape[:-1] == x.shape[:-1]:
+         return self.kept
@@
- return weights @ value, weights
+ self.kept = weights @ value, weights
+ return self.kept
""")

# Form
right.mistake(numbers.float32_on_the_way(what="queries and keys"), loses=FORM).patch("""
- weights = torch.softmax(query @ key.mT, dim=-1)
+ weights = torch.softmax(query.float() @ key.float().mT, dim=-1).to(x.dtype)
""")
right.mistake(
    numbers.always_float32(of="`x`"),
    {"weights @ value, weights": "(weights @ value).float(), weights.float()"},
    loses=FORM,
)
right.mistake(arguments.argument_changed(what="`x`"), loses=FORM).patch("""
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ x.data.mul_(0.5)
""")
right.mistake(shapes.view_of_strided, loses=FORM).patch("""
- query, key, value = self.W_q(x), self.W_k(x), self.W_v(x)
+ rows = x.view(-1, x.shape[-1])
+ query, key, value = (layer(rows).view(*x.shape[:-1], -1) for layer in (self.W_q, self.W_k, self.W_v))
""")
