"""What the cases of `MultiHeadAttention` are made of, and how some are judged."""

import torch

from grading.judge.exercise import tagged

from ...shared.chance import dropped_otherwise, too_many_or_few


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


P, SHAPE = 0.3, (2, 3, 8, 48)


def drops_entries(state, context):
    """Judges two calls in training mode against a call in eval mode.

    2 * 2304 weights, each dropped with probability 0.3. Two slices of n entries have the same pattern with probability
    0.58 ** n; the smallest slices compared have 48: 5e-12 each, 1e-9 for all of them.
    """

    def holds(seen, exact):
        plain, clean = (t.double() for t in seen.values["clean"])
        if (clean == 0).any():
            return tagged("eval mode drops, too", "in eval mode some weights are 0 where nothing is blocked")
        patterns = []
        for name in ("first", "second"):
            output, given = (t.double() for t in seen.values[name])
            if tuple(given.shape) != SHAPE or tuple(output.shape) != tuple(exact.values[name][0].shape):
                return "in training mode the output or the weights do not have the right shape"
            kept = given != 0
            if torch.allclose(given, clean, rtol=1e-4) and not torch.allclose(output, plain, rtol=1e-4, atol=1e-6):
                text = "in training mode no weight that is returned is dropped, and the output differs from eval mode's"
                return tagged(_where_it_fell(output, state), text)
            if not torch.allclose(given[kept] * (1 - P), clean[kept], rtol=1e-4, atol=1e-7):
                text = "in training mode the weights are neither 0 nor the weights of eval mode times 1 / (1 - dropout)"
                return dropped_otherwise(text, given, clean, P)
            head = state["W_o.weight"].unflatten(1, (SHAPE[1], -1)).double()
            value = (context @ state["W_v.weight"].T).unflatten(-1, (SHAPE[1], -1)).double()
            applied = torch.einsum("bhts,bshk,dhk->btd", given, value, head)
            if not torch.allclose(output, applied, rtol=1e-3, atol=1e-4 * float(applied.abs().max())):
                return "in training mode the output is not what the weights that were returned give"
            patterns.append(kept)
        if wrong := too_many_or_few(~torch.stack(patterns), P):
            return wrong
        if torch.equal(*patterns):
            return "two calls drop the same weights"
        for dim, what in enumerate(("sentences", "heads", "queries", "keys")):
            slices = patterns[0].movedim(dim, 0).flatten(1)
            if (slices[1:] == slices[:-1]).all(1).any():
                return f"two {what} lose the same weights: dropout must fall entry by entry"
        return None

    return holds


def _where_it_fell(output, state):
    """A tag: what was dropped, if not the weights that were returned."""
    if (output == 0).any():
        return "the output is dropped"
    merged = torch.linalg.solve(state["W_o.weight"].double(), output.mT).mT
    found = merged.abs() < 1e-6 * merged.abs().max()
    return "what the heads found is dropped" if found.float().mean() > P / 2 else "other weights are returned"


def gradients_flow(seen, exact):
    """Judges that every weight of the contract gets a finite gradient that is not 0."""
    for name in ("module.W_q.weight", "module.W_k.weight", "module.W_v.weight", "module.W_o.weight", "x"):
        gradient = seen.gradients.get(name)
        if gradient is None or not gradient.any():
            return f"in training mode, with dropout, no gradient reaches `{name}`"
        if not torch.isfinite(gradient).all():
            return f"in training mode, with dropout, the gradient for `{name}` is NaN or infinite"
    return None
