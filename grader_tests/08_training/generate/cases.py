"""What the cases of `generate` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, method

from ...shared.chance import within_chance
from ..common import window_state, windowed

CONTRARY = {
    "flowing": "where gradients could flow",
    "training": "while a part of it is in training mode",
    "resting": "while a part of it is in eval mode",
}


def cycle(N=4):
    """A table after which token n is followed by n + 1, almost surely."""
    return {"table.weight": 60.0 * torch.eye(N).roll(1, 1)}


def written(draw, n_tokens, *, length=3, batch=4, block_size=5, training=False, temperature=0, **options):
    """Greedy text by a model for which every token shown, and its place, counts.

    Compared with the oracle's in float32: where two logits differ by less than rounding, both take the same token.
    """
    state = window_state(draw, N=11, D=16, T=block_size, sharpness=3.0)
    s = Script(model=windowed(state, **options), prompt=draw.integers(0, 11, batch, length))
    s.call(method(s.model, "train"), training)
    s.call(SUBJECT, s.model, s.prompt, n_tokens, temperature=temperature, name="tokens")
    text = (
        f"generate(model, prompt ({batch}, {length}), {n_tokens}, temperature={temperature}), block_size {block_size}"
    )
    return s, text


def by_probability(table, temperature, n_tokens):
    """Judges how often each token follows each: 25 questions of 6e-10 for each case, or 64 after a single token."""
    wanted = torch.softmax(table.double() / temperature, -1)

    def judge(seen, exact):
        tokens = seen.values["tokens"]
        if not isinstance(tokens, torch.Tensor) or tokens.shape != exact.values["tokens"].shape:
            return "the result must be a tensor (B, T + n_tokens)"
        if tokens.dtype != torch.int64 or not bool(((tokens >= 0) & (tokens < len(table))).all()):
            return "the result must hold ids, int64"
        before, after = tokens[:, -n_tokens - 1 : -1].flatten(), tokens[:, -n_tokens:].flatten()
        for first in range(len(table)):
            n = int((before == first).sum())
            for then in range(len(table)):
                count = int(((before == first) & (after == then)).sum())
                if not within_chance(count, n, float(wanted[first, then])):
                    return f"of {n} tokens after token {first}, {count} are {then}; that does not fit its probability"
        return None

    return judge


def from_the_generator(seen, exact):
    """Texts of 40 tokens of 60 are equal by chance with a probability of 1e-71."""
    one, again, other, later = (seen.values[name] for name in ("one", "again", "other", "later"))
    if any(not isinstance(t, torch.Tensor) or tuple(t.shape) != (2, 21) for t in (one, again, other, later)):
        return "the result must be a tensor (B, T + n_tokens)"
    if not torch.equal(one, again):
        return "the same state of the generator gave two different texts"
    if torch.equal(one, other):
        return "generators with different seeds gave the same text"
    if torch.equal(one, later) or torch.equal(seen.values["before"], seen.values["after"]):
        return "two calls with one generator gave the same text: its state does not move on"
    if torch.equal(one[0, 1:], one[1, 1:]):
        return "two rows of a batch are the same text: each row draws its own tokens"
    if one.unique().numel() < 6:  # 40 draws of 60 hold fewer than 6 different tokens with a probability below 1e-36
        return "the tokens of a text depend on each other, where the model says that they do not"
    return None


def the_same_text(seen, exact):
    one, default = seen.values["one"], seen.values["default"]
    if not isinstance(one, torch.Tensor) or one.shape != exact.values["one"].shape:
        return "the result must be a tensor (B, T + n_tokens)"
    return None if torch.equal(one, default) else "without a temperature another text is written than with 1.0"


def leaves_the_prompt(seen, exact):
    """Only whether it was changed: what comes out for a long prompt is judged elsewhere."""
    return "a prompt that is longer than block_size was changed in place" if "prompt" in seen.changed else None
