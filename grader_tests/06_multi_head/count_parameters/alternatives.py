"""Right answers to `count_parameters` in other styles."""

import torch


# %% count_in_a_loop
def count_parameters(module):
    total = 0
    for _, parameter in module.named_parameters():
        if not parameter.requires_grad:
            continue
        size = 1
        for n in parameter.shape:
            size *= n
        total += size
    return total


# %% count_a_set
def count_parameters(module):
    seen = {p for _, p in module.named_parameters(remove_duplicate=False)}
    return sum(map(torch.numel, filter(lambda p: p.requires_grad, seen)))


# %% count_recursively
def count_parameters(module):
    def gather(part, found):
        for p in part.parameters(recurse=False):
            found[id(p)] = p
        for child in part.children():
            gather(child, found)
        return found

    return sum(p.nelement() for p in gather(module, {}).values() if p.requires_grad)


# %% count_by_flattening
def count_parameters(module):
    pieces = [p.detach().flatten() for p in module.parameters() if p.requires_grad]
    return len(torch.cat(pieces)) if pieces else 0


# %% count_by_identity
def count_parameters(module):
    parameters, sizes = list(module.parameters()), []
    while parameters:
        p = parameters.pop()
        if p.requires_grad and not any(p is other for other in parameters):
            sizes.append(p.view(-1).size(0) if p.dim() else 1)
    return int(sum(sizes))
