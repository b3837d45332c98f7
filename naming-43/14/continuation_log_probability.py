# %% wrong: not_shifted | Reads the log-probability of each token at the token's own position, where the model already predicts the next one.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None])[0]
    log_probs = torch.log_softmax(logits, -1)
    rows = log_probs[len(prompt):]
    return rows.gather(1, continuation[:, None]).sum()

# %% wrong: mean | Takes the mean over the tokens instead of the sum.
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation))
    logits = model(ids.unsqueeze(0)).squeeze(0)
    start = prompt.shape[0] - 1
    return -F.cross_entropy(logits[start:-1], continuation)

# %% wrong: prompt_included | Adds up the log-probabilities of the tokens of the prompt as well.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation]).unsqueeze(0)
    lp = model(ids).log_softmax(-1)
    targets = ids[:, 1:]
    return lp[:, :-1].gather(-1, targets.unsqueeze(-1)).sum()

# %% wrong: first_token_left_out | Leaves out the first token of the continuation, which is predicted at the last position of the prompt.
import torch

def continuation_log_probability(model, prompt, continuation):
    T = len(prompt)
    ids = torch.cat([prompt, continuation])
    lp = torch.log_softmax(model(ids[None, :])[0], dim=-1)
    total = lp.new_zeros(())
    for i in range(T, len(ids) - 1):
        total = total + lp[i, ids[i + 1]]
    return total

# %% wrong: one_call_per_token | Calls the model once for each token of the continuation instead of once.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = prompt
    total = 0.0
    for token in continuation:
        logits = model(ids.unsqueeze(0))[0, -1]
        total = total + torch.log_softmax(logits, -1)[token]
        ids = torch.cat([ids, token.reshape(1)])
    return total

# %% wrong: without_context | Gives the model only the last token of the prompt and the continuation, so most of the context is missing.
import torch

def continuation_log_probability(model, prompt, continuation):
    inputs = torch.cat([prompt[-1:], continuation[:-1]])
    logits = model(inputs[None])
    return torch.log_softmax(logits, -1)[0, torch.arange(len(continuation)), continuation].sum()

# %% wrong: bits | Gives the log-probability in bits (logarithm to base 2), not in nats.
import math
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    log_probs = model(ids[None])[0].log_softmax(-1) / math.log(2)
    rows = log_probs[len(prompt) - 1:-1]
    return rows[torch.arange(len(continuation)), continuation].sum()

# %% wrong: probability | Returns the probability of the continuation, the product, instead of its logarithm.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    probs = model(ids.view(1, -1)).softmax(-1)[0, len(prompt) - 1:-1]
    return probs.gather(-1, continuation.unsqueeze(-1)).prod()

# %% wrong: log_of_softmax | Takes the logarithm of the softmax, which is -inf as soon as a probability underflows to 0.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    probs = torch.softmax(model(ids[None]), dim=-1)[0]
    chosen = probs[len(prompt) - 1:-1].gather(1, continuation[:, None])
    return torch.log(chosen).sum()

# %% wrong: no_gradient | Scores under torch.no_grad(), so the result is not differentiable in the model's parameters.
import torch

@torch.no_grad()
def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    lp = torch.log_softmax(model(ids[None])[0, :-1], -1)
    lp = lp.gather(-1, ids[1:, None]).squeeze(-1)
    return lp[len(prompt) - 1:].sum()

# %% wrong: softmax_over_positions | Normalises over the positions of the sequence instead of over the vocabulary.
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    log_probs = F.log_softmax(model(ids[None]), dim=1)[0]
    rows = log_probs[len(prompt) - 1:len(ids) - 1]
    return rows.gather(1, continuation.unsqueeze(1)).sum()

# %% wrong: loss_sign | Returns the negative log-likelihood, a loss, instead of the log-probability.
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[:-1].unsqueeze(0))[0]
    labels = ids[1:].clone()
    labels[:len(prompt) - 1] = -100
    return F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")

# %% wrong: sums_logits | Adds up the logits of the tokens without normalising them to log-probabilities.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None]).squeeze(0)[len(prompt) - 1:-1]
    return torch.gather(logits, 1, continuation[:, None]).sum()

# %% wrong: greedy_tokens | Adds up the log-probabilities of the model's most probable tokens, not those of the continuation.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(ids[None])[0], -1)[len(prompt) - 1:-1]
    return log_probs.max(-1).values.sum()

# %% wrong: without_batch | Gives the model ids of shape (T,) without a batch dimension.
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(ids), -1).reshape(len(ids), -1)
    return log_probs[len(prompt) - 1:-1].gather(1, continuation[:, None]).sum()

# %% right: gather
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(ids[None])[0], -1)
    rows = log_probs[len(prompt) - 1:-1]
    return rows.gather(1, continuation[:, None]).sum()

# %% right: cross_entropy
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation))
    logits = model(ids[:-1].unsqueeze(0)).squeeze(0)
    return -F.cross_entropy(logits[-len(continuation):], continuation, reduction="sum")

# %% right: loop
import torch

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids.reshape(1, -1))[0]
    total = logits.new_zeros(())
    for i, token in enumerate(continuation.tolist()):
        row = logits[len(prompt) + i - 1]
        total = total + row[token] - torch.logsumexp(row, 0)
    return total

# %% right: ignored_labels
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation]).unsqueeze(0)
    labels = ids.clone()
    labels[:, :len(prompt)] = -100
    logits = model(ids)
    loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100, reduction="none")
    return -loss.sum()

# %% right: one_hot_mask
import torch
import torch.nn.functional as F

def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation])
    logits = model(ids[None, :])
    lp = logits - logits.logsumexp(-1, keepdim=True)
    M = continuation.numel()
    wanted = F.one_hot(continuation, logits.shape[-1]).bool()
    return lp[0, -M - 1:-1][wanted].sum()
