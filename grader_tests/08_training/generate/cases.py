"""Building blocks of the test cases of `generate`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, generator, helper, method, ref

from ..common import window_state, windowed

CONTRARY = {
    "flowing": "where gradients could flow",
    "training": "while a part of it is in training mode",
    "resting": "while a part of it is in eval mode",
}


def cycle(N=4):
    """A table of logits by which n + 1 almost surely follows token n."""
    return {"table.weight": 60.0 * torch.eye(N).roll(1, 1)}


def written(
    draw, n_tokens, *, length=3, batch=8, block_size=5, training=False, temperature=0, with_zero=True, **options
):
    """Greedy text by a model for which every token in the window and its position count.

    The oracle's text is computed in float32, too: if two logits differ by less than rounding, both take the same token.
    There are so many rows that they hardly ever all write the same token: an answer that stops at token 0 loses only
    the criterion for that. Not `with_zero`: hardly any row writes it, since ten other logits are seldom all below 0.
    """
    state = window_state(draw, N=11, D=16, T=block_size, sharpness=3.0)
    if not with_zero:
        state["out.weight"][0] = 0.0
    s = Script(model=windowed(state, **options), prompt=draw.integers(0, 11, batch, length))
    s.call(method(s.model, "train"), training)
    s.call(EXERCISE, s.model, s.prompt, n_tokens, temperature=temperature, name="tokens")
    text = (
        f"generate(model, prompt ({batch}, {length}), {n_tokens}, temperature={temperature}), block_size {block_size}"
    )
    return s, text


def written_twice(draw, tag, **options):
    """Two greedy texts by one model with other seeds, which random texts hardly match."""
    s, text = written(draw, 8, batch=6, block_size=12, **options)
    for seed, name in ((1, "one"), (2, "again")):
        s.call(helper("seed"), seed)
        s.call(EXERCISE, s.model, s.prompt, 8, temperature=0, generator=generator(seed), name=name)
    made = s.case(ref("one"), ref("again")).check_with("deterministic", tag=tag)
    return made.label(f"{text}, two times more" + f", with {' and '.join(options)}" * bool(options))


def chances(table, temperature):
    """(N, N): the probability of each token after each, for a table of logits."""
    return torch.softmax(table.double() / temperature, -1)
