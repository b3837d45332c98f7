"""`load_gpt2`: a published checkpoint copied into a model of the course's own names."""

import torch

from grading.exercises.exercise import Draw, exercise, helper, method, ref

from ..common import LOADING
from .cases import SIZES, checkpoint, either, loading, refusing, state

# Numbers are copied into parameters, so no gradient is compared. An error names the wrong tensor as the checkpoint
# does; it may give a shape as stored or transposed, depending on where the answer checks it.
load = exercise(
    "load_gpt2",
    see=LOADING,
    hints=(
        "`model.state_dict()` lists our names, the checkpoint has theirs. Write down, for one layer, which of theirs "
        "each of ours comes from, and which of them have to be transposed.",
        "Two passes: first collect everything in a dictionary from our names to tensors, transposed where "
        "they must be, and "
        "raise where one is missing or has another shape. Only then copy.",
        'A loop over `range(len(model.blocks))` with `f"h.{i}.…"` on one side and `f"blocks.{i}.…"` on the other; '
        "`split_qkv` for `c_attn`. At the end `model.load_state_dict(…)`, which copies, and `return model`.",
    ),
)


@load.oracle
def load_oracle(model, checkpoint):
    own, found = model.state_dict(), {}

    def take(name, shape):
        if name not in checkpoint:
            raise KeyError(name)
        if checkpoint[name].shape != torch.Size(shape):
            raise ValueError(f"{name} has the shape {tuple(checkpoint[name].shape)}, the model's is {tuple(shape)}")
        return checkpoint[name]

    def pair(ours, theirs, turned):
        shape = own[f"{ours}.weight"].shape
        weight = take(f"{theirs}.weight", shape[::-1] if turned else shape)
        found[f"{ours}.weight"] = weight.T if turned else weight
        found[f"{ours}.bias"] = take(f"{theirs}.bias", own[f"{ours}.bias"].shape)

    for ours, theirs in (("tokens.weight", "wte.weight"), ("places.weight", "wpe.weight")):
        found[ours] = take(theirs, own[ours].shape)
    pair("norm", "ln_f", 0)
    size = own["norm.weight"].shape[0]
    for i in range(len(model.blocks)):
        for ours, theirs, turned in (
            ("norm_1", "ln_1", 0),
            ("norm_2", "ln_2", 0),
            ("attention.W_o", "attn.c_proj", 1),
            ("mlp.0", "mlp.c_fc", 1),
            ("mlp.2", "mlp.c_proj", 1),
        ):
            pair(f"blocks.{i}.{ours}", f"h.{i}.{theirs}", turned)
        weight = take(f"h.{i}.attn.c_attn.weight", (size, 3 * size))
        bias = take(f"h.{i}.attn.c_attn.bias", (3 * size,))
        for place, letter in enumerate("qkv"):
            piece = slice(place * size, (place + 1) * size)
            found[f"blocks.{i}.attention.W_{letter}.weight"] = weight[:, piece].T
            found[f"blocks.{i}.attention.W_{letter}.bias"] = bias[piece]
    with torch.no_grad():
        for name, numbers in found.items():
            own[name].copy_(numbers)
    return model


TINY = {"n_tokens": 3, "d_model": 2, "n_layers": 1, "n_heads": 1, "block_size": 4}


def logits_of(s, module=None):
    """Add the model's logits for the ids of the script: "logits"."""
    s.call(ref("result") if module is None else module, s.ids, name="logits")
    return s.case(ref("logits"))


def without(given, *names):
    return {name: numbers for name, numbers in given.items() if name not in names}


def missing(draw, name, *, at_all=False):
    """A missing tensor. at_all: any error passes, if nothing was copied."""
    ids = draw.integers(0, 7, 1, 4) if at_all else None
    made = refusing(state(draw), without(checkpoint(draw, masks=False), name), [[name]], ids)
    made = made.check_with("raises_error", kind="KeyError", at_all=at_all, told=["the name of what is missing"])
    return made.label(f"a checkpoint without {name}")


def without_a_layer(draw, layer):
    """A checkpoint without this layer: the message must have one of its names."""
    given = checkpoint(draw, masks=False)
    lost = [name for name in given if name.startswith(f"h.{layer}.")]
    made = refusing(state(draw), without(given, *lost), [lost])
    made = made.check_with("raises_error", kind="KeyError", told=["the name of anything that is missing"])
    return made.label(f"a checkpoint without layer {layer}")


def misshapen(draw, name, *shape, right=None, at_all=False):
    """A tensor of wrong shape. right: the shape to name beside it; None: any message."""
    words = [[name], either(*shape), either(*right)] if right else []
    told = ["whose shape it is", "the shape in the checkpoint", "the shape that is needed"][: len(words)]
    ids = draw.integers(0, 7, 1, 4) if at_all else None
    made = refusing(state(draw), checkpoint(draw, masks=False) | {name: draw.normal(*shape)}, words, ids)
    made = made.check_with("raises_error", kind="ValueError", at_all=at_all, told=told)
    return made.label(f"a checkpoint whose {name} has the shape {shape}")


def accepted(draw):
    made = refusing(state(draw), checkpoint(draw, masks=False))
    return made.check_with("raises_error", kind="").label("a checkpoint in which nothing is wrong")


@load.example("width 2, one layer, one head")
def _():
    draw = Draw(11)
    s = loading(state(draw, TINY), checkpoint(draw, TINY), TINY, ids=torch.tensor([[0, 2, 1]]))
    yield logits_of(s).label("the logits of the result, after loading")
    s = loading(state(draw, TINY), checkpoint(draw, TINY), TINY)
    s.call(helper("state_of"), s.model)
    yield s.case().label("the numbers of the model, after loading")


@load.example("what is missing, or has another shape")
def _():
    draw = Draw(12)
    yield missing(draw, "h.1.mlp.c_fc.bias")
    yield misshapen(draw, "wte.weight", 6, 4, right=(7, 4))


@load.criterion("the logits are those of the published model", points=1.5)
def _(draw):
    others = {"n_tokens": 5, "d_model": 6, "n_layers": 3, "n_heads": 3, "block_size": 4}
    one_head = {"n_tokens": 9, "d_model": 8, "n_layers": 1, "n_heads": 1, "block_size": 6}
    deep = {"n_tokens": 4, "d_model": 4, "n_layers": 11, "n_heads": 1, "block_size": 3}  # h.10 comes after h.9
    for sizes in (SIZES, others, one_head, deep):
        ids = draw.integers(0, sizes["n_tokens"], 3, sizes["block_size"] - 1)
        s = loading(state(draw, sizes), checkpoint(draw, sizes, masks=False), sizes, ids=ids)
        yield logits_of(s).label(f"the logits of the result, with {sizes}")


@load.criterion("every number is in its place, and what a file holds besides is left out", points=1.5)
def _(draw):
    for dtype in (torch.float32, torch.float64):
        s = loading(state(draw, dtype=dtype), checkpoint(draw, dtype=dtype))
        s.call(helper("state_of"), s.model)
        yield s.case().label("the numbers of the model, from a checkpoint that holds masks besides")
    deeper = checkpoint(draw, SIZES | {"n_layers": 3})
    further = {"lm_head.weight": draw.normal(7, 4), "step": torch.tensor(3), "h.1.attn.scale": draw.normal(4)}
    s = loading(state(draw), deeper | further)
    s.call(helper("state_of"), s.model)
    yield s.case().label("the numbers of the model, from a checkpoint that holds a layer more, and further names")


@load.criterion("the model itself is returned, a copy that can be trained", points=0.5)
def _(draw):
    s = loading(state(draw), checkpoint(draw), ids=draw.integers(0, 7, 2, 5))
    s.call(helper("trainable"), s.model, name="trainable")
    s.call(helper("fill"), s.model, 9.0)
    s.call(helper("state_of"), ref("result"), name="filled")
    yield s.case(ref("filled"), ref("trainable")).label("the result, after the model was filled with 9")
    kept = s.case(s.checkpoint).check_with("input_dict_unchanged", name="checkpoint")
    yield kept.label("the checkpoint, after the model was filled with 9")
    s = loading(state(draw), checkpoint(draw, masks=False))
    s.call(helper("state_of"), s.model, name="before")
    for name in (
        "wte.weight",
        "wpe.weight",
        "h.0.ln_1.bias",
        "h.1.attn.c_attn.weight",
        "h.0.mlp.c_fc.weight",
        "ln_f.weight",
    ):
        s.call(method(ref("checkpoint", name), "fill_"), 9.0)
    s.call(helper("state_of"), s.model, name="after")
    kept = s.case(ref("before"), ref("after")).check_with("independent_of_source")
    yield kept.label("the numbers of the model, after the checkpoint was filled with 9")


@load.criterion("KeyError says what is missing", points=0.5)
def _(draw):
    for name in ("wte.weight", "h.1.attn.c_attn.bias", "h.0.ln_2.weight", "ln_f.bias", "h.1.mlp.c_proj.weight"):
        yield missing(draw, name)
    yield without_a_layer(draw, 1)
    yield accepted(draw)


@load.criterion("ValueError says whose shape is another one, and both shapes", points=0.5)
def _(draw):
    yield misshapen(draw, "wte.weight", 9, 4, right=(7, 4))
    yield misshapen(draw, "wpe.weight", 3, 4, right=(5, 4))
    yield misshapen(draw, "h.1.ln_1.weight", 5, right=(4,))
    yield misshapen(draw, "h.0.mlp.c_fc.weight", 4, 15, right=(4, 16))
    yield misshapen(draw, "h.0.mlp.c_fc.weight", 16, 4)  # already transposed: found only by comparing shapes as stored
    yield misshapen(draw, "h.0.mlp.c_fc.weight", 8, 8, right=(4, 16))
    yield misshapen(draw, "h.1.attn.c_attn.weight", 12, 4)
    yield misshapen(draw, "h.0.attn.c_attn.weight", 4, 15, right=(4, 12))
    yield misshapen(draw, "h.1.attn.c_attn.bias", 15, right=(12,))
    yield misshapen(draw, "h.0.attn.c_proj.bias", 1, right=(4,))  # a single number would broadcast
    yield accepted(draw)


@load.criterion("where it refuses, nothing was copied", points=0.5)
def _(draw):
    for name in ("ln_f.bias", "wte.weight", "h.1.mlp.c_proj.bias", "h.1.attn.c_attn.weight"):
        yield missing(draw, name, at_all=True)
    for name, shape in (
        ("ln_f.weight", (5,)),
        ("h.1.mlp.c_proj.weight", (15, 4)),
        ("wpe.weight", (6, 4)),
        ("wte.weight", (1, 4)),
        ("h.1.attn.c_attn.bias", (15,)),
    ):
        yield misshapen(draw, name, *shape, at_all=True)
    yield accepted(draw)
