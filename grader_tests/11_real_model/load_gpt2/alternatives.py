"""Right answers to `load_gpt2` in other styles."""

import torch


# %% load_by_renaming
import re


def load_gpt2(model, checkpoint):
    own, found = model.state_dict(), {}
    names = {"tokens": "wte", "places": "wpe", "norm": "ln_f", "norm_1": "ln_1", "norm_2": "ln_2"}
    names |= {"attention.W_o": "attn.c_proj", "mlp.0": "mlp.c_fc", "mlp.2": "mlp.c_proj"}
    for ours, parameter in own.items():
        layer = re.match(r"blocks\.(\d+)\.", ours)
        start = f"h.{layer[1]}." if layer else ""
        part, kind = re.sub(r"^blocks\.\d+\.", "", ours).rsplit(".", 1)
        third = {"attention.W_q": 0, "attention.W_k": 1, "attention.W_v": 2}.get(part)
        theirs = start + ("attn.c_attn" if third is not None else names[part]) + "." + kind
        numbers = checkpoint[theirs]
        turned = kind == "weight" and part.startswith(("attention", "mlp"))
        wanted = list(parameter.shape[::-1] if turned else parameter.shape)
        if third is not None:
            wanted[-1] *= 3
        if list(numbers.shape) != wanted:
            raise ValueError(f"{theirs}: the checkpoint has {list(numbers.shape)}, the model wants {wanted}")
        if third is not None:
            numbers = numbers.chunk(3, dim=-1)[third]
        found[ours] = numbers.t() if turned else numbers
    model.load_state_dict(found)
    return model


# %% load_after_a_rehearsal
import copy


def load_gpt2(model, checkpoint):
    def put(target, name, numbers=None, turned=False):
        numbers = checkpoint[name] if numbers is None else numbers
        numbers = numbers.T if turned else numbers
        if numbers.shape != target.shape:
            raise ValueError(
                f"{name} is {tuple(numbers.shape)} in the checkpoint and {tuple(target.shape)} in the model"
            )
        target.data.copy_(numbers)

    def layer(target, name, turned=False):
        put(target.weight, name + ".weight", turned=turned)
        put(target.bias, name + ".bias")

    def fill(m):
        put(m.tokens.weight, "wte.weight")
        put(m.places.weight, "wpe.weight")
        layer(m.norm, "ln_f")
        for i, block in enumerate(m.blocks):
            layer(block.norm_1, f"h.{i}.ln_1")
            layer(block.norm_2, f"h.{i}.ln_2")
            layer(block.attention.W_o, f"h.{i}.attn.c_proj", True)
            layer(block.mlp[0], f"h.{i}.mlp.c_fc", True)
            layer(block.mlp[2], f"h.{i}.mlp.c_proj", True)
            weight, bias = checkpoint[f"h.{i}.attn.c_attn.weight"], checkpoint[f"h.{i}.attn.c_attn.bias"]
            D = block.attention.W_q.in_features
            if tuple(weight.shape) != (D, 3 * D):
                raise ValueError(f"h.{i}.attn.c_attn.weight is {tuple(weight.shape)}, not {(D, 3 * D)}")
            if bias.numel() != 3 * D:
                raise ValueError(f"h.{i}.attn.c_attn.bias is {tuple(bias.shape)}, not {(3 * D,)}")
            for j, one in enumerate([block.attention.W_q, block.attention.W_k, block.attention.W_v]):
                put(one.weight, f"h.{i}.attn.c_attn.weight", weight[:, j * D : (j + 1) * D], True)
                put(one.bias, f"h.{i}.attn.c_attn.bias", bias[j * D : (j + 1) * D])

    fill(copy.deepcopy(model))  # a rehearsal on a copy, so that an error changes nothing
    fill(model)
    return model


# %% load_after_checking_all
@torch.no_grad()
def load_gpt2(model, checkpoint):
    N, D = model.tokens.weight.shape
    wanted = {"wte.weight": (N, D), "wpe.weight": (model.block_size, D), "ln_f.weight": (D,), "ln_f.bias": (D,)}
    for i in range(len(model.blocks)):
        for part, shape in {
            "ln_1.weight": (D,),
            "ln_1.bias": (D,),
            "ln_2.weight": (D,),
            "ln_2.bias": (D,),
            "attn.c_attn.weight": (D, 3 * D),
            "attn.c_attn.bias": (3 * D,),
            "attn.c_proj.weight": (D, D),
            "attn.c_proj.bias": (D,),
            "mlp.c_fc.weight": (D, 4 * D),
            "mlp.c_fc.bias": (4 * D,),
            "mlp.c_proj.weight": (4 * D, D),
            "mlp.c_proj.bias": (D,),
        }.items():
            wanted[f"h.{i}.{part}"] = shape
    lost = [name for name in wanted if name not in checkpoint]
    if lost:
        raise KeyError("the checkpoint lacks " + ", ".join(lost))
    for name, shape in wanted.items():
        if checkpoint[name].shape != shape:
            raise ValueError(f"{name}: expected {shape}, got {tuple(checkpoint[name].shape)}")
    c = checkpoint
    model.tokens.weight[:] = c["wte.weight"]
    model.places.weight[:] = c["wpe.weight"]
    model.norm.weight[:], model.norm.bias[:] = c["ln_f.weight"], c["ln_f.bias"]
    for i, b in enumerate(model.blocks):
        for norm, name in ((b.norm_1, "ln_1"), (b.norm_2, "ln_2")):
            norm.weight[:], norm.bias[:] = c[f"h.{i}.{name}.weight"], c[f"h.{i}.{name}.bias"]
        for linear, name in ((b.attention.W_o, "attn.c_proj"), (b.mlp[0], "mlp.c_fc"), (b.mlp[2], "mlp.c_proj")):
            linear.weight[:], linear.bias[:] = c[f"h.{i}.{name}.weight"].T, c[f"h.{i}.{name}.bias"]
        weight, bias = c[f"h.{i}.attn.c_attn.weight"], c[f"h.{i}.attn.c_attn.bias"]
        q, k, v = ((W.T, third) for W, third in zip(weight.chunk(3, dim=1), bias.chunk(3)))
        for linear, (W, bias) in zip((b.attention.W_q, b.attention.W_k, b.attention.W_v), (q, k, v)):
            linear.weight[:], linear.bias[:] = W, bias
    return model
