"""Building blocks of the test cases of `generate_with_cache`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref, sample_model


def cycle(N=4):
    """Logits by which a sum of r is followed by token r; a sum of N by token 0."""
    return {"table": 9.0 * torch.eye(N)[[*range(N), 0]]}


def some_table(draw, N=10, dtype=torch.float32):
    """Logits (N + 1, N) with one clear maximum in each row; every token is the likeliest after some sum.

    A token drawn by softmax is another one in half of all cases.
    """
    likeliest = torch.cat([draw.permutation(N), draw.integers(0, N, 1)])
    logits = draw.uniform(N + 1, N, dtype=dtype)
    logits[torch.arange(N + 1), likeliest] = 2.0
    return {"table": logits}


def cached(state, **options):
    return sample_model("Cached", state, n_tokens=state["table"].shape[1], **options)


def written(state, prompt, n_tokens, **options):
    """A script of one call, `tokens`, and its description."""
    s = Script(model=cached(state, **options), prompt=prompt)
    s.call(EXERCISE, s.model, s.prompt, n_tokens, name="tokens")
    return s, f"generate_with_cache(model, prompt {tuple(prompt.shape)}, {n_tokens})"


def counted(state, prompt, n_tokens, checker, **options):
    """A case that looks only at how the model was called."""
    s, text = written(state, prompt, n_tokens, **options)
    s.call(helper("attribute"), s.model, "calls", name="calls")
    given = {} if checker == "calls_without_gradients" else {"length": prompt.shape[1], "n_tokens": n_tokens}
    return s.case(ref("calls")).check_with(checker, **given).label(f"the calls of the model in {text}")
