"""Right answers to `generate` in other styles."""

import math

import torch
import torch.nn.functional as F


# %% generate_by_the_book
@torch.no_grad()
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    training = model.training
    model.eval()
    for _ in range(n_tokens):
        logits = model(prompt[:, -model.block_size :])[:, -1, :]
        if temperature == 0:
            following = torch.argmax(logits, dim=-1, keepdim=True)
        else:
            following = torch.multinomial(F.softmax(logits / temperature, dim=-1).cpu(), 1, generator=generator)
        prompt = torch.cat((prompt, following.to(prompt.device)), dim=1)
    model.train(training)
    return prompt


# %% generate_by_gumbels_trick
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    """The greatest of logits plus Gumbel noise is a draw from their softmax."""
    B, T = prompt.shape
    tokens = torch.zeros(B, T + n_tokens, dtype=prompt.dtype, device=prompt.device)
    tokens[:, :T] = prompt
    modes = {part: part.training for part in model.modules()}
    model.eval()
    with torch.inference_mode():
        for t in range(T, T + n_tokens):
            logits = model(tokens[:, max(0, t - model.block_size) : t])[:, -1].double().cpu()
            if temperature != 0:
                noise = torch.empty_like(logits).exponential_(generator=generator)
                logits = logits / temperature - noise.log()
            tokens[:, t] = logits.argmax(-1).to(tokens.device)
    for part, mode in modes.items():
        part.training = mode
    return tokens.clone()


# %% generate_by_cumulated_shares
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    """A random number in [0, 1), and the first token whose cumulative probability exceeds it."""
    was = model.training
    model.train(False)
    pieces = [prompt]
    window = prompt
    try:
        with torch.no_grad():
            for _ in range(n_tokens):
                window = window[:, -model.block_size :]
                last = model(window).select(1, -1)
                if temperature > 0:
                    shares = (last.double() / temperature).softmax(-1).cumsum(-1)
                    throw = torch.rand(len(shares), 1, generator=generator, dtype=torch.float64).to(shares)
                    chosen = torch.searchsorted(shares, throw * shares[:, -1:], right=True).clamp(
                        max=last.shape[-1] - 1
                    )
                else:
                    chosen = last.topk(1).indices
                pieces.append(chosen)
                window = torch.cat([window, chosen], 1)
    finally:
        model.train(was)
    return torch.cat(pieces, 1)


# %% generate_row_by_row
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    was = model.training
    model.eval()
    rows = []
    with torch.no_grad():
        for _ in range(n_tokens):
            tokens = prompt if not rows else torch.cat([prompt, torch.stack(rows, 1)], 1)
            logits = model(tokens[:, -model.block_size :])[:, -1]
            if temperature:
                p = torch.exp(torch.log_softmax(logits / temperature, -1)).cpu()
                drawn = [torch.multinomial(q, 1, generator=generator).item() for q in p]
                rows.append(torch.tensor(drawn, device=prompt.device))
            else:
                rows.append(logits.max(dim=-1)[1])
    model.train(was)
    return torch.cat([prompt, torch.stack(rows, 1)], 1) if rows else prompt


# %% generate_from_lists
import random


def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    """Lists of numbers, Python's random module seeded by the generator, and a copy of the model."""
    import copy

    reader = copy.deepcopy(model).eval().requires_grad_(False)
    texts = prompt.tolist()
    seed = torch.empty((), dtype=torch.int64).random_(generator=generator).item() if temperature else 0
    dice = random.Random(seed)
    for _ in range(n_tokens):
        logits = reader(torch.tensor([text[-model.block_size :] for text in texts], device=prompt.device))[:, -1]
        for text, row in zip(texts, logits.tolist(), strict=True):
            if temperature == 0:
                text.append(max(range(len(row)), key=row.__getitem__))
            else:
                top = max(row)
                text += dice.choices(range(len(row)), [math.exp((z - top) / temperature) for z in row])
    return torch.tensor(texts, device=prompt.device)


# %% generate_by_recursion
def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    if n_tokens == 0:
        return prompt
    mode = model.training
    with torch.no_grad():
        logits = model.eval()(prompt[:, -model.block_size :])[:, -1]
    model.train(mode)
    if temperature == 0:
        chosen = logits.argmax(-1)
    else:
        p = (logits / temperature).sub(logits.max() / temperature).exp().cpu()  # multinomial normalises
        chosen = p.multinomial(1, True, generator=generator).squeeze(1).to(prompt.device)
    longer = torch.hstack([prompt, chosen.unsqueeze(1)])
    return generate(model, longer, n_tokens - 1, temperature, generator)
