# a race of exponential clocks in place of multinomial
import torch


def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    modes = [module.training for module in model.modules()]
    B, T = prompt.shape
    out = torch.empty(B, T + n_tokens, dtype=prompt.dtype, device=prompt.device)
    out[:, :T] = prompt
    try:
        model.eval()
        with torch.no_grad():
            for t in range(T, T + n_tokens):
                logits = model(out[:, max(0, t - model.block_size) : t])[:, -1].double()
                if temperature != 0:
                    clocks = torch.empty(logits.shape, dtype=torch.float64).exponential_(generator=generator)
                    logits = torch.log_softmax(logits / temperature, -1) - clocks.log().to(logits.device)
                out[:, t] = logits.argmax(dim=-1)
    finally:
        for module, mode in zip(model.modules(), modes):
            module.training = mode
    return out
