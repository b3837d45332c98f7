"""Known mistakes in `delta_rule`."""

from ...shared.families import gradients, numbers
from .contract import delta_rule

VALUES = ("outputs and", "continues", "several texts")

right = delta_rule.alternative("read_correct_write")

right.mistake("adds_only", {"(v - read)": "v"}, loses=VALUES).feedback(
    "You add each value to what is stored, as plain linear attention does. The delta rule first subtracts what the "
    "state has under this key."
)
right.mistake("without_beta", {"beta[..., t, None, None] * ": ""}, loses=VALUES).feedback(
    "You replace what is stored under a key completely. Multiply the correction by beta."
)
right.mistake(
    "beta_for_the_value_only",
    {"(v - read)": "(beta[..., t, None] * v - read)", "beta[..., t, None, None] * k": "k"},
    loses=VALUES,
).feedback("You multiply only the new value by beta. It belongs to the whole difference.")
right.mistake("reads_before_it_writes", loses=VALUES).patch("""
- state = state + beta[..., t, None, None] * k[..., :, None] * (v - read)[..., None, :]
- outputs.append((q[..., None, :] @ state)[..., 0, :])
+ outputs.append((q[..., None, :] @ state)[..., 0, :])
+ state = state + beta[..., t, None, None] * k[..., :, None] * (v - read)[..., None, :]
""").feedback("You read with the query before the position has written. A query sees its own position, too.")
right.mistake("reads_with_the_query", {"read = (k[": "read = (q["}, loses=VALUES).feedback(
    "You look up the old value with the query. The value to correct is stored under the key."
)
right.mistake("the_wrong_sign", {"v - read": "read - v"}, loses=VALUES).feedback(
    "You subtract the new value from the old one. The correction is the new value minus what is stored."
)
right.mistake("always_from_zeros", loses="continues").patch("""
- if state is None:
-     state = value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
+ state = value.new_zeros(*key.shape[:-2], key.shape[-1], value.shape[-1])
""").feedback("You begin with zeros even if a state is given. Continue from `state`.")
right.mistake("forgets_between_positions", {"state = state + beta": "state = beta"}, loses=VALUES).feedback(
    "You keep only the last correction. Add each one to the state."
)
right.mistake("writes_the_query", {"* k[..., :, None]": "* q[..., :, None]"}, loses=VALUES).feedback(
    "You store under the query. Values are stored under their keys."
)
right.mistake(
    "scaled_queries", {"(q[..., None, :] @ state)": "(q[..., None, :] @ state / q.shape[-1] ** 0.5)"}, loses=VALUES
).feedback("You divide by the root of the width. The delta rule has no softmax, and its outputs are not scaled.")
right.mistake(
    "normalises_the_keys",
    {"query[..., t, :], key[..., t, :], value": "query[..., t, :], F.normalize(key[..., t, :], dim=-1), value"},
    loses=VALUES,
).feedback(
    "You divide each key by its length. Published models do this before the rule; here the keys are used as they are."
)
right.mistake("one_beta_for_all", {"beta[..., t, None, None]": "beta[..., 0, None, None]"}, loses=VALUES).feedback(
    "You use the first beta for all positions. Each position has its own."
)
right.mistake(
    gradients.cut("detaches_the_state", what="the state"),
    {"state = state + beta": "state = state.detach() + beta"},
    loses="several",
)
right.mistake(numbers.result_float32(of="the outputs and the state"), loses="float64")
