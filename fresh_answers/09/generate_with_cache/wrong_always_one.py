# with n_tokens = 0 one token is written all the same
import torch


@torch.no_grad()
def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    cache = model.new_cache(B, T + n_tokens)
    new = model(prompt, cache, 0)[:, -1].argmax(-1, keepdim=True)
    ids = torch.cat([prompt, new], 1)
    for i in range(n_tokens - 1):
        new = model(new, cache, T + i)[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, new], 1)
    return ids
