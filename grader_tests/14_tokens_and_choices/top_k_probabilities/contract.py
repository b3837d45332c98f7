"""`top_k_probabilities`, a step: only the k most probable tokens."""

import torch

from grading.exercises.exercise import call, step

top_k_probabilities = step(
    "top_k_probabilities",
    see="Exercise: keep the k most probable tokens",
    hints=(
        "Which logit gives a token the probability 0, and leaves the softmax to rescale the others?",
        "The shape of the code: take the k-th largest logit of each row with `logits.topk(min(k, N))`, fill smaller "
        "logits with `-inf`, then softmax.",
    ),
)


@top_k_probabilities.oracle
def top_k_probabilities_oracle(logits, k):
    larger = (logits[..., None, :] > logits[..., :, None]).sum(-1)
    kept = torch.softmax(logits, -1) * (larger < k)
    return kept / kept.sum(-1, keepdim=True)


PAPER = torch.tensor([1.0, 4.0, 2.0, 3.0]).log()
top_k_probabilities.example("two of four", call(PAPER, 2))
top_k_probabilities.example("more than there are", call(PAPER, 9))
top_k_probabilities.example("two rows", call(torch.stack([PAPER, PAPER.flip(0) - 5.0]), 3))


@top_k_probabilities.criterion("the probabilities")
def _(draw):
    for k in (1, 3, 6):
        yield call(draw.normal(6, scale=2.0), k)
    yield call(draw.normal(4, 5), 2)
    yield call(draw.normal(2, 3, 4), 3)
    yield call(draw.normal(3, 5) + torch.tensor([[0.0], [9.0], [-7.0]]), 2).does_not_mutate()
    yield call(draw.normal(3), draw.integer(4, 9))
    yield call(torch.tensor([-torch.inf, 1.0, -0.5, -torch.inf, 2.0])[draw.permutation(5)], 2)
