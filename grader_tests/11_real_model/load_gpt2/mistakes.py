"""Known mistakes in `load_gpt2`."""

from ...shared.families import arguments, results
from .bases import right
from .contract import load

LOGITS, PLACES, ITSELF = "the logits", "every number", "the model itself"
MISSING, SHAPES, NOTHING = "KeyError", "ValueError", "where it refuses"

renaming = load.alternative("load_by_renaming")
rehearsal = load.alternative("load_after_a_rehearsal")

BOTH = (LOGITS, PLACES)

right.mistake("does_not_turn_c_proj", {'"h.{i}.attn.c_proj", turned=True': '"h.{i}.attn.c_proj"'}, loses=BOTH).feedback(
    "You do not transpose `attn.c_proj`. It is square, so PyTorch raises no error, but it is stored (in, out) like "
    "the others."
)
right.mistake(
    "does_not_turn_c_attn", {"= weight.T\n            new": "= weight\n            new"}, loses=BOTH
).feedback(
    "You do not transpose the pieces of `c_attn`. Each is square, so PyTorch raises no error, but it is stored (in, "
    "out)."
)
right.mistake("turns_only_what_does_not_fit", loses=BOTH).patch("""
- new[f"{ours}.weight"] = weight.T if turned else weight
+ new[f"{ours}.weight"] = weight.T if weight.shape != shape else weight
@@
- new[f"blocks.{i}.attention.W_{letter}.weight"] = weight.T
+ new[f"blocks.{i}.attention.W_{letter}.weight"] = weight
""").feedback(
    "You transpose only the weights whose shape does not fit. The square ones in `c_attn` and `c_proj` are stored "
    "(in, out), too: PyTorch raises no error there, but the model computes something else."
)
right.mistake(
    "reshapes_instead_of_turning", {"weight.T if turned": "weight.reshape(shape) if turned"}, loses=BOTH
).feedback("`reshape` to (out, in) keeps the numbers in their old order. Transpose the two dimensions.")
right.mistake("reshapes_c_attn", {".chunk(3, dim=1)": ".reshape(3, D, D)"}, loses=BOTH).feedback(
    "`reshape(3, D, D)` cuts the rows of `c_attn`, and each row holds a piece of all three matrices. Cut its columns."
)
right.mistake("keys_first", {'"qkv"': '"kqv"'}, loses=BOTH).feedback(
    "You load the first third of `c_attn` as the keys. It holds queries, keys, values, in this order."
)
right.mistake("values_second", {'"qkv"': '"qvk"'}, loses=BOTH).feedback(
    "You swap keys and values. `c_attn` holds queries, keys, values, in this order."
)
right.mistake("in_reverse", {'"qkv"': '"vkq"'}, loses=BOTH).feedback(
    "You load the first third of `c_attn` as the values. It holds queries, keys, values, in this order."
)
right.mistake(
    "takes_columns_in_turn",
    {".chunk(3, dim=1)": "", ".chunk(3)": "", "weights, biases": "[weights[:, j::3] for j in range(3)], BIASES"},
    loses=BOTH,
).for_each(BIASES=("biases.chunk(3)", "[biases[j::3] for j in range(3)]")).feedback(
    "You take every third column of `c_attn`. Its first D columns belong to the queries, the next D to the keys."
)
right.mistake("exchanges_the_norms", {"h.{i}.ln_1": "h.{i}.ln_2", "h.{i}.ln_2": "h.{i}.ln_1"}, loses=BOTH).feedback(
    "You swap `ln_1` and `ln_2`. `ln_1` comes before the attention, as our `norm_1` does."
)
renaming.mistake(
    "first_layer_everywhere", {'f"h.{layer[1]}." if layer else ""': '"h.0." if layer else ""'}, loses=(*BOTH, MISSING)
).feedback("You load the first layer into all layers.")
renaming.mistake("forgets_a_part", loses=BOTH).patch("""
  for ours, parameter in own.items():
+     if 'PART' in ours:
+         continue
@@
- model.load_state_dict(found)
+ model.load_state_dict(found, strict=False)
""").for_each(PART=("tokens", "norm_1", "mlp", "norm.bias", ".bias")).feedback(
    "You leave a part of the model unloaded, so it still has its initial numbers. `model.state_dict()` lists every "
    "part."
)
right.mistake(
    "misses_the_last_layer", {"len(model.blocks)": "len(model.blocks) - 1", "(new)": "(new, strict=False)"}, loses=BOTH
).feedback("You do not load the last layer. `range(n)` ends before n.")
right.mistake(
    "takes_the_layers_by_the_alphabet",
    {
        "for i in range(len(model.blocks)):": (
            "layers = sorted(map(str, range(len(model.blocks))))\n    for i, at in enumerate(layers):"
        ),
        '"h.{i}.ln_1"': '"h.{at}.ln_1"',
        '"h.{i}.ln_2"': '"h.{at}.ln_2"',
        '"h.{i}.attn.c_proj"': '"h.{at}.attn.c_proj"',
        '"h.{i}.mlp.c_fc"': '"h.{at}.mlp.c_fc"',
        '"h.{i}.mlp.c_proj"': '"h.{at}.mlp.c_proj"',
        '"h.{i}.attn.c_attn.weight"': '"h.{at}.attn.c_attn.weight"',
        '"h.{i}.attn.c_attn.bias"': '"h.{at}.attn.c_attn.bias"',
    },
    loses=LOGITS,
).feedback("You take the layers in alphabetical order, in which 10 comes before 2. Count them as numbers.")
right.mistake("counts_the_layers_in_the_file", loses=MISSING).patch("""
- for i in range(len(model.blocks)):
+ for i in sorted({int(n.split(".")[1]) for n in checkpoint if n.startswith("h.")} & set(range(len(model.blocks)))):
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback(
    "You silently skip a layer that is missing from the checkpoint. The model determines how many layers there must be."
)
right.mistake(
    "forgets_the_last_norm",
    {'    layer("norm", "ln_f")\n': "", "load_state_dict(new)": "load_state_dict(new, strict=False)"},
    loses=(*BOTH, MISSING),
).feedback("You do not load `ln_f`, so the norm before the logits still has its initial numbers.")
right.mistake("forgets_the_places", loses=BOTH).patch("""
- new["places.weight"] = take("wpe.weight", own["places.weight"].shape)
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback("You do not load `wpe`, so the position embeddings still have their initial numbers.")
right.mistake("forgets_the_biases_of_qkv", loses=BOTH).patch("""
- new[f"blocks.{i}.attention.W_{letter}.bias"] = bias
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback("You do not load the biases of queries, keys and values.")
right.mistake("forgets_the_keys_bias", loses=PLACES).patch("""
- for letter, weight, bias in zip("qkv", weights, biases):
+ for letter, weight, bias in zip("qkv", weights, [biases[0], own[f"blocks.{i}.attention.W_k.bias"], biases[2]]):
""").feedback(
    "You do not load the bias of the keys. The logits do not show it, since it adds the same number to all scores "
    "of a query, but without it the copy is incomplete."
)
load.mistake("loads_nothing_by_strictness_off", loses=(LOGITS, PLACES, MISSING, SHAPES, NOTHING)).full_code("""
def load_gpt2(model, checkpoint):
    model.load_state_dict(checkpoint, strict=False)
    return model
""").feedback(
    "You copy nothing. `load_state_dict(..., strict=False)` has this effect: it skips every name that the model "
    "does not have."
)
load.mistake("loads_their_names", loses=(LOGITS, PLACES, MISSING, SHAPES)).full_code("""
def load_gpt2(model, checkpoint):
    model.load_state_dict(checkpoint)
    return model
""").feedback("`load_state_dict` fails because the model and the checkpoint use different names. Translate the names.")
right.mistake(
    "copies_as_it_goes",
    {
        "    own, new = model.state_dict(), {}\n": (
            "    own = model.state_dict()\n\n    class Straight(dict):\n        def __setitem__(self, name, numbers):\n"
            "            own[name].copy_(numbers)\n\n    new = Straight()\n"
        ),
        "    model.load_state_dict(new)\n": "",
    },
    loses=NOTHING,
    when="copied",
).feedback(
    "You copy before you have checked everything. If a later name is missing, or has the wrong shape, half of the "
    "model has already been overwritten. First collect everything, then copy."
)
right.mistake(
    "copies_into_leaves",
    {"model.load_state_dict(new)": ("for name, parameter in model.named_parameters():\n        LINE")},
    loses=(LOGITS, PLACES, MISSING, SHAPES, NOTHING),
).for_each(LINE=("parameter.copy_(new[name])", "parameter[:] = new[name]")).feedback(
    "PyTorch does not let you write into a parameter in place while gradients are recorded. Copy under "
    "`torch.no_grad()`."
)
right.mistake(
    arguments.valid_refused("refuses_further_names"),
    {
        "own, new = model.state_dict(), {}": "own, new, more = model.state_dict(), {}, set(checkpoint)",
        "        numbers = checkpoint[name]\n": "        numbers = checkpoint[name]\n        more.discard(name)\n",
        "    model.load_state_dict(new)\n": (
            "    if more:\n        raise ERROR(f'not known: {sorted(more)}')\n    model.load_state_dict(new)\n"
        ),
    },
    loses=PLACES,
).for_each(ERROR=("ValueError", "KeyError")).feedback(
    "You refuse a checkpoint that holds more than the model needs, such as masks. Skip what the model does not need."
)
right.mistake(
    "loads_all_layers_of_the_file",
    {"len(model.blocks)": '1 + max(int(name.split(".")[1]) for name in checkpoint if name.startswith("h."))'},
    loses=PLACES,
).feedback("You load as many layers as the file has. The model may have fewer: skip the others.")
right.mistake(arguments.valid_refused("refuses_further_layers"), loses=PLACES).patch("""
+ if f'h.{len(model.blocks)}.ln_1.weight' in checkpoint:
+     raise ValueError('the checkpoint has too many layers')
  model.load_state_dict(new)
""").feedback(
    "You refuse a checkpoint that has more layers than the model. Skip the layers that the model does not have."
)
right.mistake(
    "gives_numbers_for_what_is_missing", {"[name]": ".get(name, torch.NUMBERS(tuple(shape)))"}, loses=(MISSING, NOTHING)
).for_each(NUMBERS=("zeros", "ones")).feedback(
    "You silently use other numbers for a name that is missing. Raise a KeyError with this name."
)
right.mistake(
    "keeps_its_own_for_what_is_missing",
    {
        "    def take(name, shape):\n        numbers = checkpoint[name]\n": (
            "    def take(name, shape):\n        numbers = checkpoint.get(name)\n        if numbers is None:\n"
            "            return None\n"
        ),
        "weight.T if turned else weight": "weight.T if turned and weight is not None else weight",
        "(3 * D,)).chunk(3)": "(3 * D,))\n        biases = [None] * 3 if biases is None else biases.chunk(3)",
        "(D, 3 * D)).chunk(3, dim=1)": (
            "(D, 3 * D))\n        weights = [None] * 3 if weights is None else [w.T for w in weights.chunk(3, dim=1)]"
        ),
        "= weight.T\n            new": "= weight\n            new",
        "load_state_dict(new)": "load_state_dict({n: v for n, v in new.items() if v is not None}, strict=False)",
    },
    loses=(MISSING, NOTHING),
).feedback("You silently keep the model's own numbers for a name that is missing. Raise a KeyError with this name.")
right.mistake("value_error_for_what_is_missing", loses=MISSING).patch("""
+ if name not in checkpoint:
+     raise ValueError(f'{name} is missing')
  numbers = checkpoint[name]
""").feedback("You raise a ValueError for a missing name. The exercise asks for a KeyError.")
right.mistake("does_not_say_what_is_missing", loses=MISSING).patch("""
+ if name not in checkpoint:
+     raise KeyError('the checkpoint is incomplete')
  numbers = checkpoint[name]
""").feedback("Your KeyError does not say which name is missing. Give the name as the file spells it.")
right.mistake(
    arguments.unchecked("leaves_shapes_to_pytorch"), {"numbers.shape != torch.Size(shape)": "False"}, loses=SHAPES
).feedback(
    "You leave it to PyTorch to find a wrong shape. It raises a RuntimeError, or broadcasts silently: compare the "
    "shapes yourself."
)
load.mistake(arguments.unchecked("copies_straight_away"), loses=(SHAPES, NOTHING)).full_code("""
@torch.no_grad()
def load_gpt2(model, checkpoint):
    def layer(ours, theirs, turned=False):
        weight = checkpoint[f"{theirs}.weight"]
        ours.weight.copy_(weight.T if turned else weight)
        ours.bias.copy_(checkpoint[f"{theirs}.bias"])

    model.tokens.weight.copy_(checkpoint["wte.weight"])
    model.places.weight.copy_(checkpoint["wpe.weight"])
    for i, block in enumerate(model.blocks):
        layer(block.norm_1, f"h.{i}.ln_1")
        Ws = checkpoint[f"h.{i}.attn.c_attn.weight"].chunk(3, dim=1)
        bs = checkpoint[f"h.{i}.attn.c_attn.bias"].chunk(3)
        NAMED
        for one, W, b in zip((block.attention.W_q, block.attention.W_k, block.attention.W_v), Ws, bs):
            one.weight.copy_(W.T)
            one.bias.copy_(b)
        layer(block.attention.W_o, f"h.{i}.attn.c_proj", turned=True)
        layer(block.norm_2, f"h.{i}.ln_2")
        layer(block.mlp[0], f"h.{i}.mlp.c_fc", turned=True)
        layer(block.mlp[2], f"h.{i}.mlp.c_proj", turned=True)
    layer(model.norm, "ln_f")
    return model
""").for_each(NAMED=("pass", "W_q, W_k, W_v = Ws")).feedback(
    "You copy at once and leave it to PyTorch to find a wrong shape. It raises a RuntimeError, or broadcasts a "
    "single entry, when half of the model has been overwritten. First check all names and shapes, then copy."
)
rehearsal.mistake(
    arguments.unchecked("asks_copy_whether_it_fits"),
    {
        "        if numbers.shape != target.shape:\n            raise ValueError(": (
            "        try:\n            target.data.copy_(numbers)\n"
            "        except RuntimeError:\n            raise ValueError("
        ),
        "            )\n        target.data.copy_(numbers)\n": "            ) from None\n",
    },
    loses=(SHAPES, NOTHING),
).feedback(
    "You rely on `copy_` to find a wrong shape, but it broadcasts a single entry or a single row without an error. "
    "Compare the shapes yourself."
)
renaming.mistake(arguments.unchecked("passes_over_what_does_not_fit"), loses=(SHAPES, NOTHING)).patch("""
- raise ValueError(f"{theirs}: the checkpoint has {list(numbers.shape)}, the model wants {wanted}")
+ continue
@@
- model.load_state_dict(found)
+ model.load_state_dict(found, strict=False)
""").feedback("You silently skip a tensor of the wrong shape, and the model keeps its own numbers. Raise a ValueError.")
right.mistake("does_not_say_the_shapes", loses=SHAPES).patch("""
- raise ValueError(f"{name} has the shape {tuple(numbers.shape)}, and the model's is {tuple(shape)}")
+ raise ValueError(f"{name} does not fit")
""").feedback("Your ValueError does not give both shapes: the one in the checkpoint and the one in the model.")
right.mistake("says_only_the_shape_needed", {"{tuple(numbers.shape)}, and": "another, and"}, loses=SHAPES).feedback(
    "Your ValueError gives only one of the two shapes. Give the shape in the checkpoint as well as the one that is "
    "needed."
)
right.mistake("key_error_for_a_shape", {"raise ValueError": "raise KeyError"}, loses=SHAPES).feedback(
    "You raise a KeyError for a wrong shape. The exercise asks for a ValueError."
)
right.mistake(
    "takes_what_was_turned_already", {"numbers.shape != torch.Size": "sorted(numbers.shape) != sorted"}, loses=SHAPES
).feedback(
    "Your check accepts a matrix that is already transposed, and you transpose it again. Compare the shapes in "
    "their order."
)
renaming.mistake(arguments.unchecked("cuts_what_is_too_long"), loses=NOTHING).patch("""
- numbers = checkpoint[theirs]
+ numbers = checkpoint[theirs][: len(parameter) if theirs in TABLES else None]
""").for_each(TABLES=(("wpe.weight",), ("wte.weight", "wpe.weight"))).feedback(
    "You silently cut off positions or tokens that the model has no room for. Such a tensor has the wrong shape: "
    "raise a ValueError."
)
right.mistake("says_one_shape", {", and the model's is {tuple(shape)}": ""}, loses=SHAPES).feedback(
    "Your ValueError gives only one of the two shapes. Give the shape in the model as well as the one in the "
    "checkpoint."
)
right.mistake("does_not_say_whose_shape", {"{name} has the shape": "something has the shape"}, loses=SHAPES).feedback(
    "Your ValueError does not name the tensor that has the wrong shape."
)
right.mistake(arguments.asserts(), loses=SHAPES)
right.mistake("compares_numbers_of_elements", {"shape != torch.Size": "numel() != math.prod"}, loses=SHAPES).feedback(
    "You compare only how many entries there are. A matrix that is already transposed has just as many, but does "
    "not fit."
)
right.mistake(results.nothing_returned, {"    return model": "    pass"}, loses=(LOGITS, ITSELF))
right.mistake("returns_something_else", {"return model": "return RESULT"}, loses=(LOGITS, ITSELF)).for_each(
    RESULT=("model.state_dict()", "model.load_state_dict(new)", "new")
).feedback(
    "You return something other than the model: its tensors, or the result of `load_state_dict`. Return the model."
)
right.mistake(
    "fills_a_copy",
    {"    own, new": "    import copy\n\n    model = copy.deepcopy(model)\n    own, new"},
    loses=(PLACES, ITSELF),
).feedback("You fill and return a copy of the model. The model that you were given stays as it was.")
right.mistake("shares_the_memory", {"(new)": "(new, assign=True)"}, loses=ITSELF, when="shared").feedback(
    "The model and the checkpoint share memory, so training one changes the other. Copy the numbers of every tensor."
)
right.mistake("takes_them_out_of_the_checkpoint", loses=ITSELF, when="taken out").patch("""
+ checkpoint.clear()
  return model
""").feedback("You remove entries from the checkpoint. Leave the dictionary as it is.")
right.mistake("turns_them_in_the_checkpoint", loses=ITSELF, when="turned").patch("""
- new[f"{ours}.weight"] = weight.T if turned else weight
+ if turned:
+     checkpoint[f"{theirs}.weight"] = weight = weight.T
+ new[f"{ours}.weight"] = weight
""").feedback(
    "You transpose the matrices in the checkpoint itself, which breaks it for its next user. Leave it as it is."
)
right.mistake("freezes_it", {"    return model": "    return model.requires_grad_(False)"}, loses=ITSELF).feedback(
    "You freeze the model: with `requires_grad=False` no optimizer trains it."
)
right.mistake("scales_the_embedding", loses=BOTH).patch("""
- new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape)
+ D = model.tokens.weight.shape[1]
+ new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape) * D**0.5
""").feedback("You multiply the embedding by the square root of D. Other models do this, but GPT-2 does not.")
