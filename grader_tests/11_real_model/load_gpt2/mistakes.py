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
    "attn.c_proj is not turned. It is square, so nothing complains; but it is stored (in, out) as the others are."
)
right.mistake(
    "does_not_turn_c_attn", {"= weight.T\n            new": "= weight\n            new"}, loses=BOTH
).feedback("The pieces of c_attn are not turned. Each is square, so nothing complains; but it is stored (in, out).")
right.mistake("turns_only_what_does_not_fit", loses=BOTH).patch("""
- new[f"{ours}.weight"] = weight.T if turned else weight
+ new[f"{ours}.weight"] = weight.T if weight.shape != shape else weight
@@
- new[f"blocks.{i}.attention.W_{letter}.weight"] = weight.T
+ new[f"blocks.{i}.attention.W_{letter}.weight"] = weight
""").feedback(
    "Only what does not fit otherwise is turned. All of c_attn, c_proj and c_fc are stored (in, out), the square ones, "
    "too: nothing complains there, and the model is another one."
)
right.mistake(
    "reshapes_instead_of_turning", {"weight.T if turned": "weight.reshape(shape) if turned"}, loses=BOTH
).feedback("`reshape` to (out, in) reads the numbers in the old order. Exchange the two dimensions.")
right.mistake("reshapes_c_attn", {".chunk(3, dim=1)": ".reshape(3, D, D)"}, loses=BOTH).feedback(
    "`reshape(3, D, D)` cuts the rows of c_attn, each of which holds a piece of all three. Cut its columns."
)
right.mistake("keys_first", {'"qkv"': '"kqv"'}, loses=BOTH).feedback(
    "c_attn holds queries, keys, values, in this order; you take its first third for the keys."
)
right.mistake("values_second", {'"qkv"': '"qvk"'}, loses=BOTH).feedback(
    "c_attn holds queries, keys, values, in this order; you exchange keys and values."
)
right.mistake("in_reverse", {'"qkv"': '"vkq"'}, loses=BOTH).feedback(
    "c_attn holds queries, keys, values, in this order; you take its first third for the values."
)
right.mistake(
    "takes_columns_in_turn",
    {".chunk(3, dim=1)": "", ".chunk(3)": "", "weights, biases": "[weights[:, j::3] for j in range(3)], BIASES"},
    loses=BOTH,
).for_each(BIASES=("biases.chunk(3)", "[biases[j::3] for j in range(3)]")).feedback(
    "Of c_attn you take every third column. Its first D columns are the queries', the next D the keys'."
)
right.mistake("exchanges_the_norms", {"h.{i}.ln_1": "h.{i}.ln_2", "h.{i}.ln_2": "h.{i}.ln_1"}, loses=BOTH).feedback(
    "ln_1 and ln_2 are exchanged. ln_1 stands before the attention, as our norm_1 does."
)
renaming.mistake(
    "first_layer_everywhere", {'f"h.{layer[1]}." if layer else ""': '"h.0." if layer else ""'}, loses=(*BOTH, MISSING)
).feedback("The first layer is loaded into all of them.")
renaming.mistake("forgets_a_part", loses=BOTH).patch("""
  for ours, parameter in own.items():
+     if 'PART' in ours:
+         continue
@@
- model.load_state_dict(found)
+ model.load_state_dict(found, strict=False)
""").for_each(PART=("tokens", "norm_1", "mlp", "norm.bias", ".bias")).feedback(
    "A part of the model is not loaded, and has the numbers that it was made with. `model.state_dict()` lists all."
)
right.mistake(
    "misses_the_last_layer", {"len(model.blocks)": "len(model.blocks) - 1", "(new)": "(new, strict=False)"}, loses=BOTH
).feedback("The last layer is not loaded: `range(n)` ends before n.")
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
).feedback("Layers are taken in the order of their names as texts, in which 10 comes before 2. Count them as numbers.")
right.mistake("counts_the_layers_in_the_file", loses=MISSING).patch("""
- for i in range(len(model.blocks)):
+ for i in sorted({int(n.split(".")[1]) for n in checkpoint if n.startswith("h.")} & set(range(len(model.blocks)))):
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback("A layer that the checkpoint lacks is passed over without a word. How many there must be says the model.")
right.mistake(
    "forgets_the_last_norm",
    {'    layer("norm", "ln_f")\n': "", "load_state_dict(new)": "load_state_dict(new, strict=False)"},
    loses=(*BOTH, MISSING),
).feedback("ln_f is not loaded: the norm before the logits has the numbers that it was made with.")
right.mistake("forgets_the_places", loses=BOTH).patch("""
- new["places.weight"] = take("wpe.weight", own["places.weight"].shape)
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback("wpe is not loaded: the places have the numbers that they were made with.")
right.mistake("forgets_the_biases_of_qkv", loses=BOTH).patch("""
- new[f"blocks.{i}.attention.W_{letter}.bias"] = bias
@@
- model.load_state_dict(new)
+ model.load_state_dict(new, strict=False)
""").feedback("The biases of queries, keys and values are not loaded.")
right.mistake("forgets_the_keys_bias", loses=PLACES).patch("""
- for letter, weight, bias in zip("qkv", weights, biases):
+ for letter, weight, bias in zip("qkv", weights, [biases[0], own[f"blocks.{i}.attention.W_k.bias"], biases[2]]):
""").feedback(
    "The keys' bias is not loaded. (Attention does not notice, since it adds the same number to all scores of a query; "
    "a copy is none without it.)"
)
load.mistake("loads_nothing_by_strictness_off", loses=(LOGITS, PLACES, MISSING, SHAPES, NOTHING)).full_code("""
def load_gpt2(model, checkpoint):
    model.load_state_dict(checkpoint, strict=False)
    return model
""").feedback(
    "Nothing was copied. (`load_state_dict(..., strict=False)` does that: it passes over all names that the model does "
    "not have.)"
)
load.mistake("loads_their_names", loses=(LOGITS, PLACES, MISSING, SHAPES)).full_code("""
def load_gpt2(model, checkpoint):
    model.load_state_dict(checkpoint)
    return model
""").feedback("The model has other names than the checkpoint, so `load_state_dict` refuses it. Translate the names.")
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
    "You copy while you still look: where a later name is missing, or has another shape, half of the model has been "
    "overwritten. First collect everything, then copy."
)
right.mistake(
    "copies_into_leaves",
    {"model.load_state_dict(new)": ("for name, parameter in model.named_parameters():\n        LINE")},
    loses=(LOGITS, PLACES, MISSING, SHAPES, NOTHING),
).for_each(LINE=("parameter.copy_(new[name])", "parameter[:] = new[name]")).feedback(
    "PyTorch forbids to write into a parameter while it would have to take a derivative of that. Copy under "
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
    "A checkpoint that holds more, such as masks, is refused. Leave out what the model does not need."
)
right.mistake(
    "loads_all_layers_of_the_file",
    {"len(model.blocks)": '1 + max(int(name.split(".")[1]) for name in checkpoint if name.startswith("h."))'},
    loses=PLACES,
).feedback("You load as many layers as the file has. The model may have fewer: what it has no place for is left out.")
right.mistake(arguments.valid_refused("refuses_further_layers"), loses=PLACES).patch("""
+ if f'h.{len(model.blocks)}.ln_1.weight' in checkpoint:
+     raise ValueError('the checkpoint has too many layers')
  model.load_state_dict(new)
""").feedback("A checkpoint that has more layers than the model is refused. Leave out what the model has no place for.")
right.mistake(
    "gives_numbers_for_what_is_missing", {"[name]": ".get(name, torch.NUMBERS(tuple(shape)))"}, loses=(MISSING, NOTHING)
).for_each(NUMBERS=("zeros", "ones")).feedback(
    "For what is missing you take something else, without a word. Raise a KeyError with its name."
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
).feedback("What is missing stays as it was in the model, without a word. Raise a KeyError with its name.")
right.mistake("value_error_for_what_is_missing", loses=MISSING).patch("""
+ if name not in checkpoint:
+     raise ValueError(f'{name} is missing')
  numbers = checkpoint[name]
""").feedback("For a name that is missing you raise a ValueError. The contract says KeyError.")
right.mistake("does_not_say_what_is_missing", loses=MISSING).patch("""
+ if name not in checkpoint:
+     raise KeyError('the checkpoint is incomplete')
  numbers = checkpoint[name]
""").feedback("Your KeyError does not say which name is missing, as the file should have it.")
right.mistake(
    arguments.unchecked("leaves_shapes_to_pytorch"), {"numbers.shape != torch.Size(shape)": "False"}, loses=SHAPES
).feedback("A wrong shape is found only by PyTorch, as a RuntimeError, or broadcast silently. Compare shapes yourself.")
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
    "You copy at once, and leave it to PyTorch to find a wrong shape: it raises a RuntimeError, or spreads a single "
    "number, when half of the model has been overwritten. First look at all names and shapes, then copy."
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
    "`copy_` spreads a single number, or a single row, over all places without an error. Compare the shapes yourself."
)
renaming.mistake(arguments.unchecked("passes_over_what_does_not_fit"), loses=(SHAPES, NOTHING)).patch("""
- raise ValueError(f"{theirs}: the checkpoint has {list(numbers.shape)}, the model wants {wanted}")
+ continue
@@
- model.load_state_dict(found)
+ model.load_state_dict(found, strict=False)
""").feedback("What has another shape is passed over without a word, and the model keeps its own. Raise a ValueError.")
right.mistake("does_not_say_the_shapes", loses=SHAPES).patch("""
- raise ValueError(f"{name} has the shape {tuple(numbers.shape)}, and the model's is {tuple(shape)}")
+ raise ValueError(f"{name} does not fit")
""").feedback("Your ValueError does not tell both shapes: the one in the checkpoint and the one in the model.")
right.mistake("says_only_the_shape_needed", {"{tuple(numbers.shape)}, and": "another, and"}, loses=SHAPES).feedback(
    "Your ValueError tells one shape only. Beside the one that is needed tell the one in the checkpoint."
)
right.mistake("key_error_for_a_shape", {"raise ValueError": "raise KeyError"}, loses=SHAPES).feedback(
    "For another shape you raise a KeyError. The contract says ValueError."
)
right.mistake(
    "takes_what_was_turned_already", {"numbers.shape != torch.Size": "sorted(numbers.shape) != sorted"}, loses=SHAPES
).feedback(
    "A matrix that was turned already passes your check, and is turned once more. Compare shapes in their order."
)
renaming.mistake(arguments.unchecked("cuts_what_is_too_long"), loses=NOTHING).patch("""
- numbers = checkpoint[theirs]
+ numbers = checkpoint[theirs][: len(parameter) if theirs in TABLES else None]
""").for_each(TABLES=(("wpe.weight",), ("wte.weight", "wpe.weight"))).feedback(
    "More places, or tokens, than the model has are cut off without a word. That is another shape: raise a ValueError."
)
right.mistake("says_one_shape", {", and the model's is {tuple(shape)}": ""}, loses=SHAPES).feedback(
    "Your ValueError tells one shape only. Beside the one in the checkpoint tell the one in the model."
)
right.mistake("does_not_say_whose_shape", {"{name} has the shape": "something has the shape"}, loses=SHAPES).feedback(
    "Your ValueError does not say whose shape is another one."
)
right.mistake(arguments.asserts(), loses=SHAPES)
right.mistake("compares_numbers_of_elements", {"shape != torch.Size": "numel() != math.prod"}, loses=SHAPES).feedback(
    "You compare how many numbers there are. A matrix that was turned already has as many, and does not fit."
)
right.mistake(results.nothing_returned, {"    return model": "    pass"}, loses=(LOGITS, ITSELF))
right.mistake("returns_something_else", {"return model": "return RESULT"}, loses=(LOGITS, ITSELF)).for_each(
    RESULT=("model.state_dict()", "model.load_state_dict(new)", "new")
).feedback("You return something else than the model: the numbers, or what `load_state_dict` says. Return the model.")
right.mistake(
    "fills_a_copy",
    {"    own, new": "    import copy\n\n    model = copy.deepcopy(model)\n    own, new"},
    loses=(PLACES, ITSELF),
).feedback("You fill a copy of the model and return that; the model itself is left as it was.")
right.mistake("shares_the_memory", {"(new)": "(new, assign=True)"}, loses=ITSELF, when="shared").feedback(
    "The model and the checkpoint share their memory: training one changes the other. Copy the numbers, all of them."
)
right.mistake("takes_them_out_of_the_checkpoint", loses=ITSELF, when="taken out").patch("""
+ checkpoint.clear()
  return model
""").feedback("The checkpoint has lost what was loaded. Leave the dictionary as it is.")
right.mistake("turns_them_in_the_checkpoint", loses=ITSELF, when="turned").patch("""
- new[f"{ours}.weight"] = weight.T if turned else weight
+ if turned:
+     checkpoint[f"{theirs}.weight"] = weight = weight.T
+ new[f"{ours}.weight"] = weight
""").feedback(
    "The matrices are turned in the checkpoint itself, which is wrong for whoever reads it next. Leave it as it is."
)
right.mistake("freezes_it", {"    return model": "    return model.requires_grad_(False)"}, loses=ITSELF).feedback(
    "The model is frozen: with `requires_grad=False` no optimizer trains it."
)
right.mistake("scales_the_embedding", loses=BOTH).patch("""
- new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape)
+ D = model.tokens.weight.shape[1]
+ new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape) * D**0.5
""").feedback("The embedding is multiplied by the root of D. That is a custom of other models.")
