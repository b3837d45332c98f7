"""The correct answer to `load_gpt2` that most mistakes are edits of."""

from .contract import load

right = load.reference_answer("""
def load_gpt2(model, checkpoint):
    own, new = model.state_dict(), {}

    def take(name, shape):
        numbers = checkpoint[name]
        if numbers.shape != torch.Size(shape):
            raise ValueError(f"{name} has the shape {tuple(numbers.shape)}, and the model's is {tuple(shape)}")
        return numbers

    def layer(ours, theirs, turned=False):
        shape = own[f"{ours}.weight"].shape
        weight = take(f"{theirs}.weight", shape[::-1] if turned else shape)
        new[f"{ours}.weight"] = weight.T if turned else weight
        new[f"{ours}.bias"] = take(f"{theirs}.bias", own[f"{ours}.bias"].shape)

    new["tokens.weight"] = take("wte.weight", own["tokens.weight"].shape)
    new["places.weight"] = take("wpe.weight", own["places.weight"].shape)
    layer("norm", "ln_f")
    D = model.tokens.weight.shape[1]
    for i in range(len(model.blocks)):
        layer(f"blocks.{i}.norm_1", f"h.{i}.ln_1")
        layer(f"blocks.{i}.norm_2", f"h.{i}.ln_2")
        layer(f"blocks.{i}.attention.W_o", f"h.{i}.attn.c_proj", turned=True)
        layer(f"blocks.{i}.mlp.0", f"h.{i}.mlp.c_fc", turned=True)
        layer(f"blocks.{i}.mlp.2", f"h.{i}.mlp.c_proj", turned=True)
        weights = take(f"h.{i}.attn.c_attn.weight", (D, 3 * D)).chunk(3, dim=1)
        biases = take(f"h.{i}.attn.c_attn.bias", (3 * D,)).chunk(3)
        for letter, weight, bias in zip("qkv", weights, biases):
            new[f"blocks.{i}.attention.W_{letter}.weight"] = weight.T
            new[f"blocks.{i}.attention.W_{letter}.bias"] = bias
    model.load_state_dict(new)
    return model
""")
