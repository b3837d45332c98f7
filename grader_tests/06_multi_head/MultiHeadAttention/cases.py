"""What the cases of `MultiHeadAttention` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, helper, ref


def attend(state, n_heads, *, training=False, dropout=0.0, exactly=False, calls=1, **inputs):
    """Construct, give weights, call with x, context, mask by name; observes the last call's result as "out"."""
    s = Script(**inputs)
    width = len(state["W_q.weight"])
    m = s.call(SUBJECT, width, n_heads, **({"dropout": dropout} if dropout else {}), name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    for _ in range(calls):
        s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))


def weights(draw, width):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    state = {f"W_{name}.weight": draw.normal(width, width, scale=width**-0.5) for name in "qkvo"}
    state["W_q.weight"] *= 1.5
    return state


def open_somewhere(draw, *shape):
    """A random mask (True = blocked) in which every row has an open key."""
    mask = draw.chance(0.5, *shape)
    mask[..., draw.integer(0, shape[-1])] = False
    return mask


def zero_where_all_is_blocked(mask, shape):
    """Judges rows that are blocked throughout, and that nothing is NaN, in the gradients too."""
    full = mask.expand(shape).all(-1)  # (B, H, T)
    empty = full.all(1)  # (B, T): blocked in every head, so that W_o mixes nothing but zeros

    def holds(seen, exact):
        output, given = seen.values["out"]
        if tuple(given.shape) != tuple(shape) or output.shape[:2] != empty.shape:
            return f"output {tuple(output.shape)} and weights {tuple(given.shape)} do not have the right shapes"
        if not (torch.isfinite(output).all() and torch.isfinite(given).all()):
            return "output or weights are NaN or infinite where a row is blocked throughout"
        if given[full].any():
            return "the weights of a row that is blocked throughout are not all 0"
        if output[empty].any():
            return "the output of a row that is blocked throughout is not 0"
        bad = [name for name, g in (seen.gradients or {}).items() if g is not None and not torch.isfinite(g).all()]
        return f"the gradient for `{bad[0]}` is NaN or infinite" if bad else None

    return holds


P, SHAPE = 0.3, (2, 3, 8, 48)


def drops_entries(state, context):
    """Judges two calls in training mode against a call in eval mode.

    2 * 2304 weights, each dropped with probability 0.3: the share of zeros has the standard deviation 0.0068, and is
    held to six of them (2e-9 for a right answer). Two slices of n entries have the same pattern with probability
    0.58 ** n; the smallest slices compared have 48: 5e-12 each, 1e-9 for all of them.
    """

    def holds(seen, exact):
        clean = seen.values["clean"][1].double()
        patterns = []
        for name in ("first", "second"):
            output, given = (t.double() for t in seen.values[name])
            if tuple(given.shape) != SHAPE or tuple(output.shape) != tuple(exact.values[name][0].shape):
                return "in training mode the output or the weights do not have the right shape"
            kept = given != 0
            if not torch.allclose(given[kept] * (1 - P), clean[kept], rtol=1e-4, atol=1e-7):
                return "in training mode the weights are neither 0 nor the weights of eval mode times 1 / (1 - dropout)"
            head = state["W_o.weight"].unflatten(1, (SHAPE[1], -1)).double()
            value = (context @ state["W_v.weight"].T).unflatten(-1, (SHAPE[1], -1)).double()
            applied = torch.einsum("bhts,bshk,dhk->btd", given, value, head)
            if not torch.allclose(output, applied, rtol=1e-3, atol=1e-4 * float(applied.abs().max())):
                return "in training mode the output is not what the weights that were returned give"
            patterns.append(kept)
        share = 1 - torch.stack(patterns).double().mean()
        if not abs(share - P) < 0.041:
            return f"dropout is {P}, and {share:.1%} of the weights were dropped"
        if torch.equal(*patterns):
            return "two calls drop the same weights"
        for dim, what in enumerate(("sentences", "heads", "queries", "keys")):
            slices = patterns[0].movedim(dim, 0).flatten(1)
            if (slices[1:] == slices[:-1]).all(1).any():
                return f"two {what} lose the same weights: dropout must fall entry by entry"
        return None

    return holds


def gradients_flow(seen, exact):
    """Judges that every weight of the contract gets a finite gradient that is not 0."""
    for name in ("module.W_q.weight", "module.W_k.weight", "module.W_v.weight", "module.W_o.weight", "x"):
        gradient = seen.gradients.get(name)
        if gradient is None or not gradient.any():
            return f"in training mode, with dropout, no gradient reaches `{name}`"
        if not torch.isfinite(gradient).all():
            return f"in training mode, with dropout, the gradient for `{name}` is NaN or infinite"
    return None
