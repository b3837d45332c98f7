# everything is compared first, in a generator, then copied
import torch


def _places(layers):
    yield "wte.weight", ("tokens.weight",), False
    yield "wpe.weight", ("places.weight",), False
    names = [("ln_f", ("norm",), False)]
    for i in range(layers):
        ours, theirs = f"blocks.{i}.", f"h.{i}."
        names += [
            (theirs + "ln_1", (ours + "norm_1",), False),
            (theirs + "ln_2", (ours + "norm_2",), False),
            (theirs + "attn.c_attn", tuple(ours + "attention.W_" + letter for letter in "qkv"), True),
            (theirs + "attn.c_proj", (ours + "attention.W_o",), True),
            (theirs + "mlp.c_fc", (ours + "mlp.0",), True),
            (theirs + "mlp.c_proj", (ours + "mlp.2",), True),
        ]
    for published, own, turned in names:
        yield published + ".weight", tuple(name + ".weight" for name in own), turned
        yield published + ".bias", tuple(name + ".bias" for name in own), False


def load_gpt2(model, checkpoint):
    own = dict(model.named_parameters())
    copies = []
    for published, names, turned in _places(len(model.blocks)):
        if published not in checkpoint:
            raise KeyError(published)
        stored = checkpoint[published].detach()
        first, *others = own[names[0]].shape
        needed = (first * len(names), *others)
        needed = needed[::-1] if turned else needed
        if tuple(stored.shape) != needed:
            raise ValueError(f"{published}: the checkpoint has {tuple(stored.shape)}, the model needs {needed}")
        stored = stored.T if turned else stored
        copies.extend((own[name], piece) for name, piece in zip(names, stored.tensor_split(len(names))))
    with torch.no_grad():
        for parameter, piece in copies:
            parameter.copy_(piece)
    return model
