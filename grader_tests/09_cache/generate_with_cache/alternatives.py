"""Right answers to `generate_with_cache` in other styles."""

import torch


# %% prefill_then_steps
@torch.no_grad()
def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    if n_tokens == 0:
        return prompt
    cache = model.new_cache(batch_size=B, length=T + n_tokens - 1)
    logits = model(prompt, cache, 0)
    tokens = [prompt, logits[:, -1].argmax(-1, keepdim=True)]
    for start in range(T, T + n_tokens - 1):
        logits = model(tokens[-1], cache, start)
        tokens.append(logits[:, -1].argmax(-1, keepdim=True))
    return torch.cat(tokens, dim=1)


# %% into_a_tensor_of_tokens
def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    tokens = torch.empty(B, T + n_tokens, dtype=torch.long, device=prompt.device)
    tokens[:, :T] = prompt
    cache = model.new_cache(B, T + n_tokens)
    begin = 0
    with torch.inference_mode():
        for end in range(T, T + n_tokens):
            logits = model(tokens[:, begin:end], cache, begin)
            tokens[:, end] = torch.argmax(logits[:, -1, :], dim=-1)
            begin = end
    return tokens


# %% counting_what_is_read
def generate_with_cache(model, prompt, n_tokens):
    ids = prompt.clone()
    cache = model.new_cache(ids.size(0), ids.size(1) + n_tokens)
    n_read = 0
    while ids.size(1) < prompt.size(1) + n_tokens:
        with torch.no_grad():
            logits = model(ids[:, n_read:], cache=cache, start=n_read)
        n_read = ids.size(1)
        ids = torch.cat((ids, logits[:, -1].topk(1).indices), dim=-1)
    return ids


# %% with_a_generator_of_tokens
def steps(model, prompt, n_tokens):
    cache, start, new = model.new_cache(len(prompt), prompt.shape[1] + n_tokens), 0, prompt
    for _ in range(n_tokens):
        with torch.no_grad():
            logits = model(new, cache, start)
        start += new.shape[1]
        new = logits[:, -1].max(dim=-1, keepdim=True).indices
        yield new


def generate_with_cache(model, prompt, n_tokens):
    return torch.cat([prompt, *steps(model, prompt, n_tokens)], dim=1)


# %% recursively
def generate_with_cache(model, prompt, n_tokens):
    cache = model.new_cache(len(prompt), prompt.shape[1] + n_tokens)

    def go_on(tokens, start, left):
        if not left:
            return tokens
        with torch.no_grad():
            chosen = model(tokens[:, start:], cache, start)[:, -1].argmax(-1)
        return go_on(torch.cat([tokens, chosen[:, None]], 1), tokens.shape[1], left - 1)

    return go_on(prompt, 0, n_tokens)


# %% a_class_that_holds_the_cache
class Writer:
    def __init__(self, model, batch, length):
        self.model, self.cache, self.length = model, model.new_cache(batch, length), 0

    def read(self, ids):
        logits = self.model(ids, self.cache, self.length)
        self.length += ids.shape[1]
        return logits[:, -1]


def generate_with_cache(model, prompt, n_tokens):
    writer = Writer(model, prompt.shape[0], prompt.shape[1] + n_tokens)
    tokens = prompt
    with torch.no_grad():
        for i in range(n_tokens):
            last = writer.read(prompt if i == 0 else tokens[:, -1:])
            tokens = torch.hstack([tokens, last.sort(descending=True).indices[:, :1]])
    return tokens


# %% memory_of_its_own
def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    like = model.new_cache(1, 1)
    shape = list(like.shape)
    shape[2], shape[4] = B, T + n_tokens
    cache = like.new_empty(shape)
    tokens = prompt.new_zeros(B, T + n_tokens)
    tokens[:, :T] = prompt
    with torch.no_grad():
        for n in range(n_tokens):
            part = slice(0, T) if n == 0 else slice(T + n - 1, T + n)
            tokens[:, T + n] = model(tokens[:, part], cache, part.start)[:, -1].argmax(-1)
    return tokens
