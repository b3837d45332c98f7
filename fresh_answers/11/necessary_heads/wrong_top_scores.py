# heads are removed by falling score until the behaviour is gone; those that did not matter stay in the list
def necessary_heads(loss_without, scores, chance):
    n_heads = scores.shape[1]
    order = scores.flatten().argsort(descending=True).tolist()
    pairs = [divmod(i, n_heads) for i in order]
    if loss_without(list(pairs)) < chance:
        raise ValueError(f"chance {chance} is higher than the loss without any head")
    removed = []
    while loss_without(list(removed)) < chance:
        removed.append(pairs[len(removed)])
    return removed
