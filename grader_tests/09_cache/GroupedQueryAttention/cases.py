"""What the cases of `GroupedQueryAttention` are made of."""

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref


def weights(draw, width, n_heads, n_groups):
    """A state dict. Queries and keys are enlarged, so that weights are neither equal nor all or nothing."""
    few = width // n_heads * n_groups
    rows = {"q": width, "k": few, "v": few, "o": width}
    state = {f"W_{name}.weight": draw.normal(n, width, scale=width**-0.5) for name, n in rows.items()}
    state["W_q.weight"] *= 1.5
    return state


def attend(state, n_heads, n_groups, *, training=False, exactly=False, earlier=(), **inputs):
    """Construct, give weights, call with -x and `earlier`, then with x and the other inputs by name; observes "out"."""
    s = Script(**inputs)
    m = s.call(EXERCISE, len(state["W_o.weight"]), n_heads, n_groups, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    s.call(m, s.call(method(s.x, "neg"), name="other"), *earlier)  # nothing of an earlier call may remain
    s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))
