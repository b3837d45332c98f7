# tensors are copied one by one, so that after an error the earlier ones are in the model already
import torch


def load_gpt2(model, checkpoint):
    own = dict(model.named_parameters())

    def put(name, source, tensor):
        if own[name].shape != tensor.shape:
            raise ValueError(f"{source}: {tuple(tensor.shape)} in the checkpoint, {tuple(own[name].shape)} needed")
        with torch.no_grad():
            own[name].copy_(tensor)

    def get(source):
        if source not in checkpoint:
            raise KeyError(source)
        return checkpoint[source]

    put("tokens.weight", "wte.weight", get("wte.weight"))
    put("places.weight", "wpe.weight", get("wpe.weight"))
    for i in range(len(model.blocks)):
        for norm in (1, 2):
            for kind in ("weight", "bias"):
                source = f"h.{i}.ln_{norm}.{kind}"
                put(f"blocks.{i}.norm_{norm}.{kind}", source, get(source))
        D = own["tokens.weight"].shape[1]
        weight, bias = get(f"h.{i}.attn.c_attn.weight"), get(f"h.{i}.attn.c_attn.bias")
        if tuple(weight.shape) != (D, 3 * D):
            raise ValueError(f"h.{i}.attn.c_attn.weight is {tuple(weight.shape)}, not {(D, 3 * D)}")
        if tuple(bias.shape) != (3 * D,):
            raise ValueError(f"h.{i}.attn.c_attn.bias is {tuple(bias.shape)}, not {(3 * D,)}")
        for letter, W, b in zip("qkv", weight.chunk(3, 1), bias.chunk(3)):
            put(f"blocks.{i}.attention.W_{letter}.weight", "", W.T)
            put(f"blocks.{i}.attention.W_{letter}.bias", "", b)
        for ours, theirs in (("attention.W_o", "attn.c_proj"), ("mlp.0", "mlp.c_fc"), ("mlp.2", "mlp.c_proj")):
            source = f"h.{i}.{theirs}"
            put(f"blocks.{i}.{ours}.weight", source + ".weight", get(source + ".weight").T)
            put(f"blocks.{i}.{ours}.bias", source + ".bias", get(source + ".bias"))
    put("norm.weight", "ln_f.weight", get("ln_f.weight"))
    put("norm.bias", "ln_f.bias", get("ln_f.bias"))
    return model
