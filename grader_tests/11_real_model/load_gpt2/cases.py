"""Building blocks of the test cases of `load_gpt2`: GPT-2 checkpoints and models."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref, sample_model, student

SIZES = {"n_tokens": 7, "d_model": 4, "n_layers": 2, "n_heads": 2, "block_size": 5}


def shapes(n_tokens, d_model, n_layers, n_heads, block_size):
    """Shapes of a checkpoint's tensors, by name."""
    D = d_model
    found = {"wte.weight": (n_tokens, D), "wpe.weight": (block_size, D), "ln_f.weight": (D,), "ln_f.bias": (D,)}
    for i in range(n_layers):
        for name, out in (
            ("ln_1", None),
            ("ln_2", None),
            ("attn.c_attn", 3 * D),
            ("attn.c_proj", D),
            ("mlp.c_fc", 4 * D),
        ):
            found[f"h.{i}.{name}.weight"] = (D,) if out is None else (D, out)
            found[f"h.{i}.{name}.bias"] = (out or D,)
        found |= {f"h.{i}.mlp.c_proj.weight": (4 * D, D), f"h.{i}.mlp.c_proj.bias": (D,)}
    return found


def checkpoint(draw, sizes=SIZES, dtype=torch.float32, *, masks=True):
    """A checkpoint with random numbers, in random order.

    masks  include the masks that published files contain, too
    """
    names = shapes(**sizes)
    order = [list(names)[i] for i in draw.permutation(len(names)).tolist()]
    made = {name: draw.normal(*names[name], scale=0.7, dtype=dtype) for name in order}
    T = sizes["block_size"]
    for i in range(sizes["n_layers"] if masks else 0):
        made[f"h.{i}.attn.bias"] = torch.ones(1, 1, T, T).tril()
        made[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    return made


def state(draw, sizes=SIZES, dtype=torch.float32):
    """A state dict with the course's names, whose numbers differ from any checkpoint's."""
    with torch.random.fork_rng():
        torch.manual_seed(draw.integer(0, 2**31))
        made = of_sizes(sizes).state_dict()
        return {name: (numbers + 3 * torch.rand_like(numbers)).to(dtype) for name, numbers in made.items()}


def of_sizes(sizes):
    from course.models.gpt import Sizes

    return Sizes(**sizes).model()


def loading(own, given, sizes=SIZES, **inputs):
    """A script that calls the exercise with a model whose state is `own`: "result"."""
    s = Script(model=sample_model("GPT", own, **sizes), checkpoint=given, **inputs)
    s.call(EXERCISE, s.model, s.checkpoint, name="result")
    return s


def refusing(own, given, words=(), ids=None):
    """A case that observes the call's exception and, with `ids`, the model's logits.

    The logits are those "before" and "after" the call.
    """
    s = Script(model=sample_model("GPT", own, **SIZES), checkpoint=given, **({} if ids is None else {"ids": ids}))
    if ids is not None:
        s.call(s.model, s.ids, name="before")
    wanted = [list(some) for some in words]
    s.call(helper("refusal"), wanted, student("load_gpt2"), s.model, s.checkpoint, name="refusal")
    if ids is None:
        return s.case(ref("refusal"))
    s.call(s.model, s.ids, name="after")
    return s.case(ref("refusal"), ref("before"), ref("after"))


def either(*shape):
    """A shape and its transpose, either of which a message may name."""
    return [list(shape), list(reversed(shape))]
