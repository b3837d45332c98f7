# names that the model has no place for, such as masks or further layers, are refused with a KeyError
import torch


def _plan(n_layers):
    plan = {"wte.weight": ["tokens.weight"], "wpe.weight": ["places.weight"]}
    for kind in ("weight", "bias"):
        plan[f"ln_f.{kind}"] = [f"norm.{kind}"]
        for i in range(n_layers):
            here, there = f"h.{i}.", f"blocks.{i}."
            plan[f"{here}ln_1.{kind}"] = [f"{there}norm_1.{kind}"]
            plan[f"{here}ln_2.{kind}"] = [f"{there}norm_2.{kind}"]
            plan[f"{here}attn.c_attn.{kind}"] = [f"{there}attention.W_{c}.{kind}" for c in "qkv"]
            plan[f"{here}attn.c_proj.{kind}"] = [f"{there}attention.W_o.{kind}"]
            plan[f"{here}mlp.c_fc.{kind}"] = [f"{there}mlp.0.{kind}"]
            plan[f"{here}mlp.c_proj.{kind}"] = [f"{there}mlp.2.{kind}"]
    return plan


def load_gpt2(model, checkpoint):
    plan = _plan(len(model.blocks))
    state = dict(model.named_parameters())
    for name in checkpoint:
        if name not in plan:
            raise KeyError(name)
    copies = []
    for name, places in plan.items():
        tensor = checkpoint[name]
        if name.endswith("weight") and ".attn." in name or name.endswith("weight") and ".mlp." in name:
            tensor = tensor.T
        needed = list(state[places[0]].shape)
        needed[0] *= len(places)
        if list(tensor.shape) != needed:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}, but {tuple(needed)} is needed")
        copies += zip(places, tensor.chunk(len(places)))
    with torch.no_grad():
        for place, tensor in copies:
            state[place].copy_(tensor)
    return model
