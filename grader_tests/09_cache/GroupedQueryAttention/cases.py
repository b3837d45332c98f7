"""Building blocks of the test cases of `GroupedQueryAttention`."""

from grading.exercises.exercise import EXERCISE, Script, helper, method, ref


def weights(draw, width, n_heads, n_groups):
    """A state dict whose enlarged queries and keys give unequal weights, not one-hot."""
    few = width // n_heads * n_groups
    rows = {"q": width, "k": few, "v": few, "o": width}
    state = {f"W_{name}.weight": draw.normal(n, width, scale=width**-0.5) for name, n in rows.items()}
    state["W_q.weight"] *= 1.5
    return state


def attend(state, n_heads, n_groups, *, training=False, exactly=False, earlier=(), **inputs):
    """A module called with -x and `earlier`, then with x and the other inputs: "out"."""
    s = Script(**inputs)
    m = s.call(EXERCISE, len(state["W_o.weight"]), n_heads, n_groups, name="module")
    s.call(helper("load_weights"), m, state, training=training, exactly=exactly)
    s.call(m, s.call(method(s.x, "neg"), name="other"), *earlier)  # an earlier call must leave no trace
    s.call(m, s.x, **{name: ref(name) for name in inputs if name != "x"}, name="out")
    return s.case(ref("out"))
