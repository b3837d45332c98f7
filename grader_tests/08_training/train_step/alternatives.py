"""Right answers to `train_step` in other styles."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# %% step_by_the_book
def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad(set_to_none=False)
    logits = model(inputs)
    loss = nn.CrossEntropyLoss()(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return float(loss)


# %% step_with_gradients_by_hand
def train_step(model, optimizer, inputs, targets):
    model.train(True)
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    logp = model(inputs).log_softmax(-1)
    loss = -logp.gather(-1, targets[..., None]).mean()
    gradients = torch.autograd.grad(loss, parameters)
    length = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    for p, g in zip(parameters, gradients, strict=True):
        p.grad = g * min(1.0, 1.0 / length)
    optimizer.step()
    return loss.tolist()


# %% step_that_restores_the_mode
def train_step(model, optimizer, inputs, targets):
    was = model.training
    model.train()
    with torch.enable_grad():
        for p in model.parameters():
            p.grad = None
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        loss.backward()
        vector = nn.utils.parameters_to_vector([p.grad for p in model.parameters()])
        if vector.norm() > 1:
            for p in model.parameters():
                p.grad.div_(vector.norm())
        optimizer.step()
        optimizer.zero_grad()
    model.train(was)
    return loss.item()


# %% step_by_functional_gradients
def train_step(model, optimizer, inputs, targets):
    for part in model.modules():
        part.training = True
    buffers = dict(model.named_buffers())

    def loss_of(parameters):
        logits = torch.func.functional_call(model, (parameters, buffers), (inputs,))
        return nn.functional.cross_entropy(logits.permute(0, 2, 1), targets)

    parameters = dict(model.named_parameters())
    gradients, loss = torch.func.grad_and_value(loss_of)(parameters)
    for name, parameter in parameters.items():
        parameter.grad = gradients[name].detach()
    norm = nn.utils.get_total_norm(gradients.values())
    nn.utils.clip_grads_with_norm_(model.parameters(), 1.0, norm)
    optimizer.step()
    return loss.detach().numpy().item()


# %% step_by_a_closure
def train_step(model, optimizer, inputs, targets):
    model.train()

    def closure():
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.nll_loss(F.log_softmax(logits, -1).permute(0, 2, 1), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    return optimizer.step(closure).item()


# %% step_sentence_by_sentence
def train_step(model, optimizer, inputs, targets):
    """Gradients accumulate over the sentences, on purpose."""
    model.train()
    model.zero_grad()
    total = 0.0
    logits = model(inputs)
    for row, wanted in zip(logits, targets, strict=True):
        loss = F.cross_entropy(row, wanted) / len(inputs)
        loss.backward(retain_graph=True)
        total += loss.detach().item()
    norm = torch.linalg.vector_norm(torch.cat([p.grad.flatten() for p in model.parameters()]))
    if norm > 1.0:
        with torch.no_grad():
            for p in model.parameters():
                p.grad.mul_(1.0 / norm)
    optimizer.step()
    return total
