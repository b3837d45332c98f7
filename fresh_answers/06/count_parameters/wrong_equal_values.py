# parameters of equal values are taken for one, such as two biases of zeros
def count_parameters(module):
    seen = set()
    total = 0
    for p in module.parameters():
        if not p.requires_grad:
            continue
        key = (tuple(p.shape), tuple(p.detach().flatten().tolist()))
        if key not in seen:
            seen.add(key)
            total += p.numel()
    return total
