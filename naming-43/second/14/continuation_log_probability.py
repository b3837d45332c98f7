# %% wrong: off_by_one | The logits at a token's own position are used, which predict the token after it, instead of those one position before.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logp = F.log_softmax(model(ids[None])[0], dim=-1)
    return logp[len(prompt):].gather(1, continuation[:, None]).sum()

# %% right: cat_slice_gather
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None, :-1])[0]
    logp = logits[len(prompt) - 1:].log_softmax(-1)
    return logp.gather(1, continuation[:, None]).sum()

# %% wrong: prompt_counted_too | The log-probabilities of the prompt's own tokens are added as well.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation), dim=0)
    logits = model(ids[:-1].unsqueeze(0)).squeeze(0)
    return -F.cross_entropy(logits, ids[1:], reduction="sum")

# %% wrong: mean_reduction | The mean over the tokens of the continuation is returned, as cross_entropy gives it by default, not the sum.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation), dim=0)
    logits = model(ids[:-1].unsqueeze(0))[0, prompt.numel() - 1:]
    return -F.cross_entropy(logits, continuation)

# %% wrong: raw_logits | The logits of the tokens are summed as if they were log-probabilities; no softmax was taken.
def continuation_log_probability(model, prompt, continuation):
    T, M = prompt.shape[0], continuation.shape[0]
    out = model(torch.cat([prompt, continuation]).view(1, -1))
    total = 0.0
    for i in range(M):
        total = total + out[0, T - 1 + i, continuation[i]]
    return total

# %% right: cross_entropy_sum
def continuation_log_probability(model, prompt, continuation):
    ids = torch.hstack([prompt, continuation]).unsqueeze(0)
    logits = model(ids)
    start = prompt.size(0) - 1
    return -F.cross_entropy(logits[0, start:-1], continuation, reduction="sum")

# %% wrong: softmax_over_positions | The softmax runs over the positions instead of over the vocabulary.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logp = torch.log_softmax(model(ids[None]), dim=1)[0]
    rows = torch.arange(len(prompt) - 1, len(ids) - 1)
    return logp[rows, continuation].sum()

# %% wrong: bits | The logarithm is to base 2: the result is in bits, not in nats.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None, :-1])[0, -len(continuation):]
    logp = torch.log_softmax(logits, -1) / math.log(2)
    return logp[torch.arange(len(continuation)), continuation].sum()

# %% wrong: negative | The sign is that of a loss: the negative log-likelihood is returned.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None, :-1])[0, -len(continuation):]
    return F.cross_entropy(logits, continuation, reduction="sum")

# %% wrong: no_grad_inference | The model is called without gradients, so that the result cannot be differentiated in its parameters.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    with torch.inference_mode():
        logits = model(ids[None])
        logp = logits.log_softmax(-1)[0, len(prompt) - 1:-1]
        return logp.gather(-1, continuation.unsqueeze(-1)).sum()

# %% wrong: calls_per_token | The model is called again for every token of the continuation, where one call gives all positions.
def continuation_log_probability(model, prompt, continuation):
    context = prompt
    total = 0
    for token in continuation:
        logits = model(context[None])[0, -1]
        total = total + F.log_softmax(logits, -1)[token]
        context = torch.cat([context, token[None]])
    return total

# %% right: logsumexp_by_hand
def continuation_log_probability(model, prompt, continuation):
    T, M = prompt.numel(), continuation.numel()
    z = model(torch.cat((prompt, continuation)).reshape(1, T + M))
    z = z[0, T - 1:T + M - 1]
    chosen = z[torch.arange(M, device=z.device), continuation]
    return (chosen - torch.logsumexp(z, dim=1)).sum()

# %% wrong: python_float | item() turns the result into a Python float: no tensor, and no gradient.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logp = model(ids[None, :-1]).log_softmax(-1)[0]
    s = 0.0
    for i, t in enumerate(continuation.tolist()):
        s += logp[len(prompt) - 1 + i, t].item()
    return s

# %% wrong: log_of_softmax | The logarithm of a softmax that has underflowed to 0 is -inf; log_softmax avoids this.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    probs = torch.softmax(model(ids[None, :-1]), dim=-1)
    picked = probs[0, len(prompt) - 1:].gather(1, continuation[:, None])
    return picked.log().sum()

# %% wrong: shape_one | The batch dimension is kept: the result has the shape (1,), not ().
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation]).unsqueeze(0)
    logp = F.log_softmax(model(ids), dim=-1)[:, :-1]
    token_logp = logp.gather(2, ids[:, 1:].unsqueeze(-1)).squeeze(-1)
    return token_logp[:, prompt.shape[0] - 1:].sum(dim=-1)

# %% right: rows_index_select
def continuation_log_probability(model, prompt, continuation):
    m = len(continuation)
    logits = model(torch.concat([prompt, continuation])[None])[0]
    logp = torch.log_softmax(logits, -1)[-m - 1:-1]
    terms = []
    for row, token in zip(logp, continuation):
        terms.append(row.index_select(0, token.reshape(1)).squeeze(0))
    return torch.stack(terms).sum()

# %% wrong: first_token_dropped | The first token of the continuation is not counted; the sum begins with its second token.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logp = model(ids[None]).log_softmax(-1)[0]
    total = logp.new_zeros(())
    for pos in range(len(prompt) + 1, len(ids)):
        total = total + logp[pos - 1, ids[pos]]
    return total

# %% wrong: prompt_only_context | Only the prompt is read, and its last logits serve for every token: the later tokens are not given the earlier ones.
def continuation_log_probability(model, prompt, continuation):
    logits = model(prompt[None])[0, -1]
    logp = F.log_softmax(logits, dim=-1)
    return logp[continuation].sum()

# %% wrong: probability_not_log | The probability of the continuation (a product) is returned, not its logarithm.
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    p = model(ids[None, :-1])[0, len(prompt) - 1:].softmax(-1)
    return p[torch.arange(len(continuation)), continuation].prod()

# %% right: nll_loss_class
class Scorer:
    def __init__(self, model):
        self.model = model

    def score(self, prefix, suffix):
        sequence = torch.cat([prefix, suffix])
        inputs, labels = sequence[:-1], sequence[1:].clone()
        labels[: len(prefix) - 1] = -100
        logp = nn.LogSoftmax(dim=-1)(self.model(inputs.unsqueeze(0)).squeeze(0))
        return F.nll_loss(logp, labels, ignore_index=-100, reduction="sum").neg()

def continuation_log_probability(model, prompt, continuation):
    return Scorer(model).score(prompt, continuation)
