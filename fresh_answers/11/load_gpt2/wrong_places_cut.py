# positions beyond the model's block_size are cut off the checkpoint's table, where a ValueError is asked
import torch


def load_gpt2(model, checkpoint):
    parameters = dict(model.named_parameters())
    todo = []

    def take(published, *names, turned=False):
        try:
            found = checkpoint[published]
        except KeyError:
            raise KeyError(published) from None
        if published == "wpe.weight":
            found = found[: model.block_size]
        shown = tuple(found.shape)
        found = found.t() if turned and found.dim() == 2 else found
        want = parameters[names[0]].shape
        want = (want[0] * len(names), *want[1:])
        if tuple(found.shape) != want:
            raise ValueError(f"{published}: {shown} found, {want[::-1] if turned else want} expected")
        todo.extend(zip(names, found.split(want[0] // len(names))))

    take("wte.weight", "tokens.weight")
    take("wpe.weight", "places.weight")
    for kind in ("weight", "bias"):
        matrix = kind == "weight"
        take("ln_f." + kind, "norm." + kind)
        for i in range(len(model.blocks)):
            a, b = f"h.{i}.", f"blocks.{i}."
            take(a + "ln_1." + kind, b + "norm_1." + kind)
            take(a + "ln_2." + kind, b + "norm_2." + kind)
            take(a + "attn.c_attn." + kind, *(f"{b}attention.W_{x}.{kind}" for x in "qkv"), turned=matrix)
            take(a + "attn.c_proj." + kind, b + "attention.W_o." + kind, turned=matrix)
            take(a + "mlp.c_fc." + kind, b + "mlp.0." + kind, turned=matrix)
            take(a + "mlp.c_proj." + kind, b + "mlp.2." + kind, turned=matrix)
    with torch.no_grad():
        for name, tensor in todo:
            parameters[name].copy_(tensor)
    return model
