"""Right answers to `verify_draft` in other styles."""

import torch
import torch.nn.functional as F


# %% counted_by_a_running_product
def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    wanted = target[:-1].gather(1, drafted[:, None]).squeeze(1)
    proposed = draft.gather(1, drafted[:, None]).squeeze(1)
    accepted = (chances < wanted / proposed).long()
    n_accepted = int(accepted.cumprod(0).sum())
    if n_accepted == M:
        return n_accepted, target[M]
    lacking = F.relu(target[n_accepted] - draft[n_accepted])
    return n_accepted, lacking / lacking.sum()


# %% a_draft_of_zeros_behind_the_last
def verify_draft(drafted, draft, target, chances):
    n_accepted = 0
    for token, q, p, chance in zip(drafted, draft, target, chances):
        if chance >= p[token] / q[token]:
            break
        n_accepted += 1
    padded = torch.cat([draft, torch.zeros_like(draft[:1])])  # behind the last drafted token everything is lacking
    lacking = torch.clamp_min(target[n_accepted] - padded[n_accepted], 0)
    return n_accepted, lacking / lacking.sum()


# %% the_first_rejection
def verify_draft(drafted, draft, target, chances):
    rows = torch.arange(drafted.numel(), device=drafted.device)
    rejected = chances * draft[rows, drafted] >= target[rows, drafted]
    places = rejected.nonzero().flatten().tolist()
    if not places:
        return drafted.numel(), target[-1]
    i = places[0]
    return i, F.normalize((target[i] - draft[i]).clamp(min=0), p=1, dim=0)


# %% recursively
def verify_draft(drafted, draft, target, chances):
    if len(drafted) == 0:
        return 0, target[0]
    token = drafted[0]
    if chances[0] < target[0, token] / draft[0, token]:
        more, probabilities = verify_draft(drafted[1:], draft[1:], target[1:], chances[1:])
        return 1 + more, probabilities
    missing = target[0] - torch.minimum(target[0], draft[0])
    return 0, missing / missing.sum()


# %% while_tokens_are_accepted
def verify_draft(drafted, draft, target, chances):
    i, M = 0, drafted.shape[0]
    while i < M and (chances[i] < target[i, drafted[i]] / draft[i, drafted[i]]).item():
        i += 1
    if i == M:
        return i, target[i].clone()
    difference = target[i] - draft[i]
    positive = torch.where(difference > 0, difference, torch.zeros_like(difference))
    return i, positive / positive.sum(dim=-1, keepdim=True)


# %% by_python_numbers_and_maximum
def verify_draft(drafted, draft, target, chances):
    tokens, limits = drafted.tolist(), chances.tolist()
    ratios = [float(target[i, token]) / float(draft[i, token]) for i, token in enumerate(tokens)]
    n_accepted = next((i for i, ratio in enumerate(ratios) if not limits[i] < ratio), len(tokens))
    if n_accepted < len(tokens):
        rest = torch.maximum(target[n_accepted], draft[n_accepted]) - draft[n_accepted]
        return n_accepted, rest / rest.sum()
    return n_accepted, target[n_accepted]
