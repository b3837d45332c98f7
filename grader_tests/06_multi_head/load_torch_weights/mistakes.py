"""Known mistakes in `load_torch_weights`."""

from ...shared.families import gradients, numbers, results
from .contract import load

right = load.reference_answer("""
def load_torch_weights(ours, theirs):
    with torch.no_grad():
        for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
            getattr(ours, name).weight.copy_(weight)
        ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours
""")

replacing = load.reference_answer("""
def load_torch_weights(ours, theirs):
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight = nn.Parameter(weight.detach().clone())
    ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
    return ours
""")

right.mistake(
    "transposes_every_matrix", {"(weight)": "(weight.T)", "out_proj.weight": "out_proj.weight.T"}, loses="every"
).feedback("You transpose the matrices. Both sides are weights of `nn.Linear`, so they have the same orientation.")
right.mistake("transposes_all_but_the_last", {"(weight)": "(weight.T)"}, loses="every").feedback(
    "You transpose W_q, W_k and W_v. Both sides are weights of `nn.Linear`, so they have the same orientation."
)
load.mistake("assigns_tensors", loses="every").full_code("""
def load_torch_weights(ours, theirs):
    q, k, v = theirs.in_proj_weight.chunk(3)
    ours.W_q.weight = q
    ours.W_k.weight = k
    ours.W_v.weight = v
    ours.W_o.weight = theirs.out_proj.weight
    return ours
""").feedback(
    "You assign a plain tensor where the module has a parameter, which PyTorch does not allow. Copy the numbers into "
    "the parameter that is there, under `torch.no_grad()`."
)
load.mistake("loads_their_state_dict", loses="every").full_code("""
def load_torch_weights(ours, theirs):
    ours.load_state_dict(theirs.state_dict())
    return ours
""").feedback(
    "`load_state_dict` fails here, because the two modules name their weights differently. Copy the weights one by one."
)
right.mistake("transposes_the_last", {"theirs.out_proj.weight": "theirs.out_proj.weight.T"}, loses="every").feedback(
    "You transpose W_o, while your W_q, W_k and W_v are right."
)
right.mistake("reads_keys_first", {'"W_q", "W_k"': '"W_k", "W_q"'}, loses="every").feedback(
    "You read the rows of `in_proj_weight` in the wrong order. They come in the order queries, keys, values."
)
right.mistake("reads_values_second", {'"W_k", "W_v"': '"W_v", "W_k"'}, loses="every").feedback(
    "You exchange keys and values when you read `in_proj_weight`. Its rows come in the order queries, keys, values."
)
right.mistake("forgets_the_last", loses="every").patch("""
- ours.W_o.weight.copy_(theirs.out_proj.weight)
""").feedback("You do not copy W_o. It comes from `theirs.out_proj.weight`.")
right.mistake("takes_rows_in_turn", loses="every").patch("""
- for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
-     getattr(ours, name).weight.copy_(weight)
+ for i, name in enumerate(("W_q", "W_k", "W_v")):
+     getattr(ours, name).weight.copy_(theirs.in_proj_weight[i::3])
""").feedback(
    "You take the rows in turn: 0, 3, 6 and so on for the queries. The queries' D rows come first, then the keys', "
    "then the values'."
)
right.mistake("reads_head_by_head", loses="every").patch("""
- for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
-     getattr(ours, name).weight.copy_(weight)
+ parts = theirs.in_proj_weight.view(theirs.num_heads, 3, -1, theirs.embed_dim)
+ for i, name in enumerate(("W_q", "W_k", "W_v")):
+     getattr(ours, name).weight.copy_(parts[:, i].flatten(0, 1))
""").feedback(
    "You read the rows head by head: q, k, v of head 0, then of head 1. Here the queries of all heads come first."
)
load.mistake("copies_the_wrong_way", loses=("every", "theirs")).full_code("""
def load_torch_weights(ours, theirs):
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.W_q.weight, ours.W_k.weight, ours.W_v.weight]))
        theirs.out_proj.weight.copy_(ours.W_o.weight)
    return ours
""").feedback("You copy the weights in the wrong direction, from `ours` into `theirs`.")
replacing.mistake("shares_the_memory", loses="neither").patch("""
  for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
-     getattr(ours, name).weight = nn.Parameter(weight.detach().clone())
- ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
+     getattr(ours, name).weight.data = weight.data
+ ours.W_o.weight.data = theirs.out_proj.weight.data
""").feedback(
    "Your two modules share their memory, so training one changes the other. A piece of a tensor is a view. Copy "
    "the numbers."
)
replacing.mistake("shares_the_last", loses="neither").patch("""
- ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
+ ours.W_o.weight = theirs.out_proj.weight
""").feedback("W_o and `theirs.out_proj` hold the same parameter, so training one changes the other. Copy the numbers.")
right.mistake(results.nothing_returned, loses="returns").patch("""
- return ours
""")
right.mistake("returns_theirs", {"return ours": "return theirs"}, loses="returns").feedback(
    "You return `theirs`. Return `ours`."
)
right.mistake("fills_a_copy", loses=("every", "returns")).patch("""
+ import copy
+
+
  def load_torch_weights(ours, theirs):
@@
+ ours = copy.deepcopy(ours)
  with torch.no_grad():
""").feedback("You fill a copy of `ours` and return that; `ours` itself stays as it was.")
replacing.mistake("freezes_the_weights", loses="returns").patch("""
  for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
-     getattr(ours, name).weight = nn.Parameter(weight.detach().clone())
- ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
+     getattr(ours, name).weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
+ ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone(), requires_grad=False)
""").feedback("The weights are right, but frozen: with `requires_grad=False` no optimizer trains them.")
replacing.mistake("records_the_copying", loses="every").patch("""
  for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
-     getattr(ours, name).weight = nn.Parameter(weight.detach().clone())
- ours.W_o.weight = nn.Parameter(theirs.out_proj.weight.detach().clone())
+     getattr(ours, name).weight.copy_(weight)
+ ours.W_o.weight.copy_(theirs.out_proj.weight)
""").feedback(
    "You change a parameter in place while gradients are recorded, which PyTorch does not allow. Copy under "
    "`torch.no_grad()`."
)
load.mistake("copies_nothing", loses="every").full_code("""
def load_torch_weights(ours, theirs):
    ours.load_state_dict(theirs.state_dict(), strict=False)
    return ours
""").feedback(
    "Your function copies nothing: `ours` stays as it was. `load_state_dict(..., strict=False)` skips names that "
    "only one side knows, and `w = …` gives a tensor a name but copies no number."
)
right.mistake(
    numbers.float32_on_the_way(what="the weights"),
    {"copy_(weight)": "copy_(weight.float())", "out_proj.weight": "out_proj.weight.float()"},
    loses="every",
)
load.mistake(gradients.gradients_switched_off, loses=("returns", "theirs")).full_code("""
def load_torch_weights(ours, theirs):
    torch.set_grad_enabled(False)
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight.copy_(weight)
    ours.W_o.weight.copy_(theirs.out_proj.weight)
    return ours
""")
load.mistake("goes_by_the_order", loses="every").full_code("""
def load_torch_weights(ours, theirs):
    with torch.no_grad():
        for mine, weight in zip(ours.parameters(), [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]):
            mine.copy_(weight)
    return ours
""").feedback(
    "You rely on the order in which `ours` lists its parameters. That order depends on how the module was written. "
    "Use the names."
)
load.mistake("freezes_theirs", loses="theirs").full_code("""
def load_torch_weights(ours, theirs):
    theirs.requires_grad_(False)
    for name, weight in zip(("W_q", "W_k", "W_v"), theirs.in_proj_weight.chunk(3)):
        getattr(ours, name).weight.data.copy_(weight)
    ours.W_o.weight.data.copy_(theirs.out_proj.weight)
    return ours
""").feedback("You freeze `theirs`, so its weights can no longer be trained.")
